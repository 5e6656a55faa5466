#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "encoder/models/encoder.h"
#include "encoder/nn/embeddings.h"
#include "encoder/nn/encoder_layer.h"

namespace backend::models {

/// Embeddings, layer norm and post-norm layers, as in BERT and most of its descendants.
struct PostNormEncoder final : Encoder {
  /// Creates the encoder without layers. Tables are loaded before the norm, so that an error
  /// reports the first missing table.
  PostNormEncoder(const Weights& weights, const nn::InputEmbeddingsShape& tables,
                  const nn::EncoderShape& shape)
      : embeddings(weights / "embeddings", tables),
        embeddings_norm(weights / "embeddings.LayerNorm", tables.size, shape.layer_norm_epsilon),
        hidden_size(shape.hidden_size) {}

  EncoderSizes sizes() const override;
  at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens outputs) const override;

  nn::InputEmbeddings embeddings;
  nn::LayerNorm embeddings_norm;
  std::optional<nn::Linear> projection;  ///< if the embeddings are narrower than the hidden states
  std::vector<nn::EncoderLayer> layers;  ///< in execution order; repeated layers share weights
  int64_t hidden_size;
  /// First position is padding_id + 1, as in RoBERTa.
  std::optional<int64_t> padding_id;
  /// Attention bias for sequences of this length: → [heads, length, length]; empty: none.
  std::function<at::Tensor(int64_t length)> position_bias;
};

/// Table sizes under BERT's config.json keys. size: width of the embeddings.
nn::InputEmbeddingsShape bert_tables(const ModelConfig& config, int64_t size);

/// Encoder sizes under BERT's config.json keys.
nn::EncoderShape bert_shape(const ModelConfig& config, double default_epsilon = 1e-12,
                            const char* default_activation = "gelu");

/// Embeddings and layers under BERT's checkpoint keys. embedding_size: width of the embeddings; if
/// it differs from the hidden size, embeddings_project (ELECTRA) projects them. Source:
/// transformers, models/bert/modeling_bert.py (BertEmbeddings, BertEncoder) and
/// models/electra/modeling_electra.py (ElectraModel).
std::unique_ptr<PostNormEncoder> make_bert_encoder(const ModelConfig& config,
                                                   const Weights& weights, int64_t embedding_size);

}  // namespace backend::models
