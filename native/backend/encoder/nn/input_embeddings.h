#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "backend/model_config.h"
#include "encoder/nn/embedding.h"

namespace backend::nn {

/// Rows of each table, and their width. An architecture that lacks a table has 0 rows of it.
struct InputEmbeddingsShape {
  int64_t words;
  int64_t positions;
  int64_t token_types;
  int64_t size;
  int64_t task_types = 0;  ///< ERNIE's; a classifier's texts are all of task 0
};

/// The sum of word, position, token-type and task-type embeddings, before any normalization.
/// Keys: word_embeddings, position_embeddings, token_type_embeddings, task_type_embeddings.
/// Source: transformers, models/bert/modeling_bert.py (BertEmbeddings) and
/// models/ernie/modeling_ernie.py (ErnieEmbeddings).
class InputEmbeddings {
 public:
  InputEmbeddings(const Weights& weights, const InputEmbeddingsShape& shape);

  /// int64 [tokens] each → float32 [tokens, size]. What there is no table for is not read.
  at::Tensor operator()(const at::Tensor& input_ids, const at::Tensor& position_ids,
                        const at::Tensor& token_type_ids) const;

  int64_t words() const { return words_.rows(); }
  int64_t positions() const { return positions_ ? positions_->rows() : 0; }
  int64_t token_types() const { return token_types_ ? token_types_->rows() : 0; }

 private:
  Embedding words_;
  std::optional<Embedding> positions_;
  std::optional<Embedding> token_types_;
  at::Tensor task_;  ///< [size], undefined without task types
};

}  // namespace backend::nn
