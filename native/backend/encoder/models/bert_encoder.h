#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "backend/model_config.h"
#include "encoder/nn/encoder_layer.h"
#include "encoder/nn/input_embeddings.h"
#include "text/packed_batch.h"

namespace backend::models {

/// Sizes of an encoder whose config.json names them as BERT's does.
nn::EncoderShape bert_encoder_shape(const ModelConfig& config, double default_epsilon = 1e-12,
                                    const char* default_activation = "gelu");

/// Embeddings and layers as BERT, RoBERTa and ELECTRA have them, under the same keys.
/// Source: transformers, models/bert/modeling_bert.py (BertEmbeddings, BertEncoder) and
/// models/electra/modeling_electra.py (ElectraModel).
class BertEncoder {
 public:
  /// embedding_size: width of the embeddings; where it is not the hidden size, embeddings_project
  /// (ELECTRA) widens them.
  BertEncoder(const ModelConfig& config, const Weights& weights, int64_t embedding_size);

  /// What a classification head reads: the last hidden state of each sequence's first token,
  /// [sequences, hidden]. position_ids and token_type_ids: int64 [tokens].
  at::Tensor first_token_states(const nn::PackedBatch& batch, const at::Tensor& position_ids,
                                const at::Tensor& token_type_ids) const;

  int64_t vocabulary_size() const { return embeddings_.words(); }
  int64_t token_types() const { return embeddings_.token_types(); }
  int64_t position_rows() const { return embeddings_.positions(); }

 private:
  nn::EncoderShape shape_;
  nn::InputEmbeddings embeddings_;
  nn::LayerNorm embeddings_norm_;
  std::optional<nn::Linear> embeddings_project_;
  std::vector<nn::EncoderLayer> layers_;
};

}  // namespace backend::models
