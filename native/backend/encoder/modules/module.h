#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "backend/text_head.h"
#include "checkpoint/weights.h"
#include "text/packed_batch.h"

namespace backend::modules {

/// What stands behind an encoder of sentence-transformers.
class Module {
 public:
  virtual ~Module() = default;

  /// Numbers in a row of its result.
  virtual int64_t columns() const = 0;

  /// float32 [rows, columns before it] → [rows, columns]; a pooling's [sequences, columns]. Rows in
  /// the packed order.
  virtual at::Tensor operator()(const at::Tensor& rows, const nn::PackedBatch& batch) const = 0;
};

// `columns`: of the rows that it reads. `model`: the weights of the whole model, for a module
// without files. Each throws LoadError. One file each, of the same name.
std::unique_ptr<Module> make(const PoolingModule& what, int64_t columns);
std::unique_ptr<Module> make(const DenseModule& what, int64_t columns, const Weights& model);
std::unique_ptr<Module> make(const LayerNormModule& what, int64_t columns);
std::unique_ptr<Module> make(const NormalizeModule& what, int64_t columns);

/// Whether only the first token's state is pooled.
bool pools_first_token(const PoolingModule& pooling);

}  // namespace backend::modules
