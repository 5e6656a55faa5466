#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "checkpoint/weights.h"
#include "packed/linear.h"

namespace backend::nn {

/// Embedding table. It stays in the mapped file, in its stored type: only the rows in use are read.
/// Keys: weight [rows, size], and those of LoRA updates. Copies share the table.
class Embedding {
 public:
  Embedding(const Weights& weights, int64_t rows, int64_t size);

  /// int64 [n] → float32 [n, size]. Every index must be below the number of rows.
  at::Tensor operator()(const at::Tensor& indices) const;

  int64_t rows() const { return table_.size(0); }

 private:
  /// LoRA update, which is added to the rows in use.
  struct Update {
    std::optional<int64_t> task;  ///< see LoraFactors
    at::Tensor down;              ///< [rows, rank], may be a view of the file
    PackedLinear up;
  };

  static void add(const Update& update, const at::Tensor& y, const at::Tensor& indices);

  at::Tensor table_;
  std::shared_ptr<const std::vector<Update>> updates_;  ///< null: none
};

/// Numbers of rows of the tables (0: the architecture lacks the table), and their width.
struct InputEmbeddingsShape {
  int64_t words;
  int64_t positions;
  int64_t token_types;
  int64_t size;
  int64_t task_types = 0;  ///< ERNIE; inference always uses task 0
};

/// Sum of word, position, token-type and task-type embeddings, before normalization.
/// Keys: word_embeddings, position_embeddings, token_type_embeddings, task_type_embeddings.
/// Source: transformers, models/bert/modeling_bert.py (BertEmbeddings) and
/// models/ernie/modeling_ernie.py (ErnieEmbeddings).
class InputEmbeddings {
 public:
  InputEmbeddings(const Weights& weights, const InputEmbeddingsShape& shape);

  /// int64 [tokens] each → float32 [tokens, size]. Inputs without a table are ignored.
  at::Tensor operator()(const at::Tensor& input_ids, const at::Tensor& position_ids,
                        const at::Tensor& token_type_ids) const;

  int64_t words() const { return words_.rows(); }
  int64_t positions() const { return positions_ ? positions_->rows() : 0; }
  int64_t token_types() const { return token_types_ ? token_types_->rows() : 0; }

 private:
  Embedding words_;
  std::optional<Embedding> positions_;
  std::optional<Embedding> token_types_;
  at::Tensor task_;  ///< [size]; undefined without task types
};

}  // namespace backend::nn
