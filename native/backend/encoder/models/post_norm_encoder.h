#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "encoder/models/encoder.h"
#include "encoder/nn/encoder_layer.h"
#include "encoder/nn/input_embeddings.h"

namespace backend::models {

/// Embeddings, a layer norm and post-norm layers, as BERT and most of its descendants have them.
struct PostNormEncoder final : Encoder {
  /// Without layers. Tables are read before the norm, so that an error names the first one that
  /// lacks.
  PostNormEncoder(const Weights& weights, const nn::InputEmbeddingsShape& tables,
                  const nn::EncoderShape& shape)
      : embeddings(weights / "embeddings", tables),
        embeddings_norm(weights / "embeddings.LayerNorm", tables.size, shape.layer_norm_epsilon),
        hidden_size(shape.hidden_size) {}

  EncoderSizes sizes() const override;
  at::Tensor operator()(const nn::PackedBatch& batch, nn::Outputs outputs) const override;

  nn::InputEmbeddings embeddings;
  nn::LayerNorm embeddings_norm;
  std::optional<nn::Linear> projection;  ///< of embeddings that are not as wide as the states
  std::vector<nn::EncoderLayer> layers;  ///< in the order they run; repeated ones share weights
  int64_t hidden_size;
  /// Positions begin after it, as RoBERTa's do.
  std::optional<int64_t> padding_id;
  /// Added to the scores of a sequence of this length: → [heads, length, length].
  std::function<at::Tensor(int64_t length)> position_bias;
};

/// Tables of words and positions, whose rows config.json names as BERT's does, so wide.
nn::InputEmbeddingsShape bert_tables(const ModelConfig& config, int64_t size);

/// Sizes of an encoder whose config.json names them as BERT's does.
nn::EncoderShape bert_shape(const ModelConfig& config, double default_epsilon = 1e-12,
                            const char* default_activation = "gelu");

/// Embeddings and layers under BERT's keys. embedding_size: width of the embeddings; where it is
/// not the hidden size, embeddings_project (ELECTRA) widens them. Source: transformers,
/// models/bert/modeling_bert.py (BertEmbeddings, BertEncoder) and
/// models/electra/modeling_electra.py (ElectraModel).
std::unique_ptr<PostNormEncoder> make_bert_encoder(const ModelConfig& config,
                                                   const Weights& weights, int64_t embedding_size);

}  // namespace backend::models
