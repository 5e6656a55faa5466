#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/text_head.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "common/error.h"
#include "text/packed_batch.h"

namespace backend::modules {

/// A module of sentence-transformers, applied after the encoder. Thread-safe.
class Module {
 public:
  virtual ~Module() = default;

  /// Columns of the result.
  virtual int64_t columns() const = 0;

  /// float32 [rows, columns of the previous module] → [rows, columns]; pooling: → [pooled
  /// rows, columns]. Rows are in packed order.
  virtual at::Tensor operator()(const at::Tensor& rows, const nn::PackedBatch& batch) const = 0;
};

// `columns`: columns of the input rows. `model`: weights of the whole model, for modules without
// files. Each is defined in the file of the same name. All throw LoadError.
std::unique_ptr<Module> make(const PoolingModule& options, int64_t columns);
std::unique_ptr<Module> make(const DenseModule& options, int64_t columns, const Weights& model);
std::unique_ptr<Module> make(const LayerNormModule& options, int64_t columns);
std::unique_ptr<Module> make(const NormalizeModule& options, int64_t columns);

/// True if the only pooling mode is CLS and the prompt is included: then only the first token's
/// state is needed.
bool pools_first_token(const PoolingModule& pooling);

/// Calls make(weights) with the weights in `files`, all of which it must use. LoadErrors get the
/// module type as prefix, because files of several modules have the same name.
template <class Make>
auto with_own_weights(const char* type, const std::vector<std::string>& files, const Make& make) {
  try {
    const Weights weights(std::make_shared<const Checkpoint>(Checkpoint::open(files)));
    auto made = make(weights);
    weights.require_all_used();
    return made;
  } catch (const common::LoadError& error) {
    throw common::LoadError(std::string(type) + ": " + error.what());
  }
}

/// Throws LoadError if a module's input size differs from the previous module's output size.
inline void require_columns(const char* type, int64_t expected, int64_t given) {
  if (expected == given) return;
  throw common::LoadError(std::string(type) + ": takes rows of " + std::to_string(expected) +
                          " numbers, but those before it have " + std::to_string(given));
}

}  // namespace backend::modules
