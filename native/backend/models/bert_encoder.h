#pragma once

#include <ATen/core/Tensor.h>

#include "backend/model_config.h"
#include "nn/embedding.h"
#include "nn/encoder_layer.h"
#include "nn/packed_batch.h"

namespace backend::models {

/// Embeddings and layers as BERT and RoBERTa have them, under the same keys.
/// Source: transformers, models/bert/modeling_bert.py (BertEmbeddings, BertEncoder).
class BertEncoder {
 public:
  BertEncoder(const ModelConfig& config, const Weights& weights);

  /// What a classification head reads: the last hidden state of each sequence's first token,
  /// [sequences, hidden]. position_ids and token_type_ids: int64 [tokens].
  at::Tensor first_token_states(const nn::PackedBatch& batch, const at::Tensor& position_ids,
                                const at::Tensor& token_type_ids) const;

  int64_t hidden_size() const { return shape_.hidden_size; }
  int64_t vocabulary_size() const { return word_embeddings_.rows(); }
  int64_t position_rows() const { return position_embeddings_.rows(); }

 private:
  nn::EncoderShape shape_;
  nn::Embedding word_embeddings_;
  nn::Embedding position_embeddings_;
  nn::Embedding token_type_embeddings_;
  nn::LayerNorm embeddings_norm_;
  std::vector<nn::EncoderLayer> layers_;
};

}  // namespace backend::models
