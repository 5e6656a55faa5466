#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "backend/model_config.h"
#include "checkpoint/weights.h"
#include "encoder/nn/attention.h"
#include "text/packed_batch.h"

namespace backend::heads {

/// From an encoder's hidden states to what a task answers.
class Head {
 public:
  virtual ~Head() = default;

  /// The states that it reads.
  virtual nn::Outputs reads() const = 0;

  /// Numbers in a row of an answer.
  virtual int64_t columns() const = 0;

  /// Those states, float32 [tokens or sequences, hidden] → float32 [sequences, columns], or
  /// [tokens, columns] where each token has an answer. Rows in the packed order.
  virtual at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch) const = 0;
};

/// What a family of encoders calls the parts of a sequence-classification head: every one has two
/// linear layers with an activation between, under names of its own.
struct SequenceClassificationKeys {
  const char* dense;
  const char* output;
  const char* activation;                ///< its name
  const char* activation_key = nullptr;  ///< of config.json, which may name another
  /// A layer norm before the output: ModernBERT's head, which config.json says more of.
  const char* norm = nullptr;
};

/// The names of one family's heads.
struct HeadKeys {
  SequenceClassificationKeys sequence_classification;
};

/// All that a head is made of. `weights`: of the whole checkpoint.
struct HeadSource {
  const ModelConfig& config;
  const Weights& weights;
  const HeadKeys& keys;
  int64_t hidden_size;
};

// Each throws LoadError. One file each, of the same name.
std::unique_ptr<Head> make_sequence_classification(const HeadSource& source);

}  // namespace backend::heads
