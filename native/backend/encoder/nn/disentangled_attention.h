#pragma once

#include <ATen/core/Tensor.h>

#include "encoder/nn/attention.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// Places in the table of relative positions, as DeBERTa-v2 uses it.
struct RelativePositions {
  int64_t max_length;  ///< of a sequence
  int64_t span;        ///< half of the table's rows
  int64_t buckets;     ///< positions are bucketed logarithmically when positive
  int64_t max_distance;

  /// Row of the table for each of query − key = −(max_length − 1) … max_length − 1; int64.
  at::Tensor rows() const;
};

/// DeBERTa's attention: to the scores of the contents come those of content to position (c2p) and
/// of position to content (p2c).
/// Source: transformers, models/deberta_v2/modeling_deberta_v2.py (DisentangledSelfAttention).
class DisentangledAttention {
 public:
  /// position_keys (c2p) and position_queries (p2c): what the layer's projections make of the table
  /// of relative positions, [2 × span, hidden]; undefined where the model lacks the term.
  /// scale_factor: 1 and the number of terms that the configuration names.
  DisentangledAttention(const at::Tensor& position_keys, const at::Tensor& position_queries,
                        const RelativePositions& positions, int64_t num_heads, int scale_factor);

  /// → [tokens or sequences, hidden]
  at::Tensor operator()(const Projections& projections, const PackedBatch& batch) const;

 private:
  /// The two terms, scaled: [sequences, heads, rows of the query, length]; undefined when there is
  /// none.
  at::Tensor position_scores(const at::Tensor& query, const at::Tensor& key, double scale) const;

  at::Tensor position_keys_;     ///< [heads, 2 × max_length − 1, head_size], highest distance first
  at::Tensor position_queries_;  ///< the same, lowest distance first
  int64_t max_length_;
  int64_t num_heads_;
  int scale_factor_;
};

}  // namespace backend::nn
