#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "backend/model_config.h"
#include "checkpoint/weights.h"
#include "hf/bridge.h"
#include "text/packed_batch.h"

namespace backend::models {

/// An encoder with its classification head.
class SequenceClassifier {
 public:
  virtual ~SequenceClassifier() = default;

  /// Logits, float32 [sequences, num_labels], rows in the packed order.
  virtual at::Tensor forward(const nn::PackedBatch& batch) const = 0;

  /// Tokens that the position table holds, special tokens included.
  virtual int64_t max_length() const = 0;

  /// Entries of the word table: every id must be below.
  virtual int64_t vocabulary_size() const = 0;

  /// Entries of the table of token types: every type must be below. 0: it reads none.
  virtual int64_t token_types() const = 0;
};

using Factory = std::unique_ptr<SequenceClassifier> (*)(const ModelConfig&, const Weights&);

/// How one "model_type" is loaded.
struct Architecture {
  Factory make;
  /// The attribute under which a classifier holds its base model: base_model_prefix in
  /// transformers.
  const char* base_prefix;
  hf::Family tokenizer_family;
};

/// Throws LoadError that lists the supported types.
const Architecture& architecture_of(const std::string& model_type);

// One file each, of the same name.
std::unique_ptr<SequenceClassifier> make_albert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<SequenceClassifier> make_bert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<SequenceClassifier> make_deberta_v2(const ModelConfig& config,
                                                    const Weights& weights);
std::unique_ptr<SequenceClassifier> make_distilbert(const ModelConfig& config,
                                                    const Weights& weights);
std::unique_ptr<SequenceClassifier> make_electra(const ModelConfig& config, const Weights& weights);
std::unique_ptr<SequenceClassifier> make_modernbert(const ModelConfig& config,
                                                    const Weights& weights);
std::unique_ptr<SequenceClassifier> make_mpnet(const ModelConfig& config, const Weights& weights);
std::unique_ptr<SequenceClassifier> make_roberta(const ModelConfig& config, const Weights& weights);
// In bert.cc.
std::unique_ptr<SequenceClassifier> make_ernie(const ModelConfig& config, const Weights& weights);
// In roberta.cc.
std::unique_ptr<SequenceClassifier> make_data2vec_text(const ModelConfig& config,
                                                       const Weights& weights);

}  // namespace backend::models
