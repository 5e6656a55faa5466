#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "backend/model_config.h"
#include "backend/text_head.h"
#include "checkpoint/weights.h"
#include "encoder/heads/transform.h"
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

/// A transform of a sequence's state, then a linear layer.
struct SequenceClassificationKeys {
  TransformKeys transform;
  const char* output = "classifier";
};

/// A linear layer, behind a transform where the family has one (ModernBERT).
struct TokenClassificationKeys {
  TransformKeys transform;  ///< of no dense layer: there is none
  const char* output = "classifier";
};

/// A transform, then a linear layer whose weight is the table of words unless the file has another.
struct MaskedLmKeys {
  TransformKeys transform;
  const char* decoder;             ///< nullptr: always the table of words
  const char* bias = nullptr;      ///< under which its bias stands where the decoder has none
  const char* bias_key = nullptr;  ///< of config.json, whether it has one; nullptr: it has
  const char* words = "embeddings.word_embeddings";  ///< in the base model
};

/// What a family of encoders calls the parts of each head. Every family has every head.
struct HeadKeys {
  SequenceClassificationKeys sequence_classification;
  MaskedLmKeys masked_lm;
  TokenClassificationKeys token_classification = {};
  /// Where config.json says "legacy": false (DeBERTa).
  const MaskedLmKeys* masked_lm_not_legacy = nullptr;
};

/// All that a head is made of.
struct HeadSource {
  const ModelConfig& config;
  const Weights& weights;  ///< of the whole checkpoint
  const Weights& base;     ///< the same, under the base model's name
  const HeadKeys& keys;
  int64_t hidden_size;
  int64_t vocabulary_size;
};

// Each throws LoadError. One file each, of the same name.
std::unique_ptr<Head> make(const SequenceClassificationHead& what, const HeadSource& source);
std::unique_ptr<Head> make(const TokenClassificationHead& what, const HeadSource& source);
std::unique_ptr<Head> make(const MaskedLmHead& what, const HeadSource& source);
std::unique_ptr<Head> make(const EmbeddingHead& what, const HeadSource& source);

}  // namespace backend::heads
