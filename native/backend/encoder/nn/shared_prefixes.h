#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "encoder/nn/rotary_embedding.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// Rows of a batch whose sequences begin with the same tokens, such as the prompt and the query of
/// a reranker. In a causal model the states of equal beginnings are equal: each is one row.
class SharedPrefixes {
 public:
  /// Empty if the sequences share too few tokens to save time.
  static std::optional<SharedPrefixes> find(const PackedBatch& batch);

  /// Selects a token for each row: [tokens, …] → [rows, …].
  at::Tensor rows_of(const at::Tensor& by_token) const;
  RotaryEmbedding::Angles rows_of(const RotaryEmbedding::Angles& by_token) const;
  /// Selects the row of each token: [rows, …] → [tokens, …].
  at::Tensor tokens_of(const at::Tensor& by_row) const;

  /// First row of the tokens of a sequence that no sequence before it has, in packed order.
  int64_t first_row(size_t sequence) const { return first_rows_[sequence]; }
  /// Number of tokens of a sequence before those.
  int64_t prefix(size_t sequence) const { return prefixes_[sequence]; }

 private:
  explicit SharedPrefixes(const PackedBatch& batch);

  at::Tensor token_of_row_;  ///< int64 [rows]
  at::Tensor row_of_token_;  ///< int64 [tokens]
  std::vector<int64_t> first_rows_, prefixes_;
};

}  // namespace backend::nn
