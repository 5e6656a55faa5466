#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>

#include "backend/model_config.h"
#include "checkpoint/weights.h"
#include "encoder/nn/attention.h"
#include "text/packed_batch.h"

namespace backend::models {

/// Input limits and hidden size of an encoder.
struct EncoderSizes {
  int64_t max_length;       ///< tokens of a text, special tokens included
  int64_t vocabulary_size;  ///< ids must be smaller
  int64_t token_types;      ///< token types must be smaller; 0: token types are ignored
  int64_t hidden_size;
  /// Id that stands for a text without tokens; empty: such a text is an error.
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<int64_t> empty_id{};
};

/// Encoder: maps tokens to hidden states. Thread-safe.
class Encoder {
 public:
  virtual ~Encoder() = default;

  virtual EncoderSizes sizes() const = 0;

  /// Whether the rows are the means of the tokens of each pooled row, instead of hidden states.
  virtual bool pools_mean() const { return false; }

  /// Last hidden states of the requested tokens, float32 [tokens or sequences, hidden_size], in
  /// packed order.
  virtual at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens outputs) const = 0;
};

/// max_position_embeddings, or 65,536 if that is less. Rotary positions have no table, so no weight
/// limits them. Throws LoadError.
int64_t rotary_position_limit(const ModelConfig& config);

// `weights`: those of the base model. All throw LoadError. bert.cc also defines ELECTRA and
// RoBERTa.
std::unique_ptr<Encoder> make_albert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_bert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_deberta_v2(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_distilbert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_eurobert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_electra(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_gemma(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_gemma3(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_gte(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_jina_bert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_jina_embeddings_v3(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_lfm2(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_lfm2_bidirectional(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_modernbert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_mpnet(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_nomic_bert(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_openai_privacy_filter(const ModelConfig& config,
                                                    const Weights& weights);
std::unique_ptr<Encoder> make_qwen2(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_qwen3(const ModelConfig& config, const Weights& weights);
std::unique_ptr<Encoder> make_roberta(const ModelConfig& config, const Weights& weights);

std::unique_ptr<Encoder> make_static_embedding(const ModelConfig& config, const Weights& weights);

}  // namespace backend::models
