#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "encoder/nn/attention.h"
#include "kernels/attention.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// Places in the table of relative positions, as DeBERTa-v2 uses it.
struct RelativePositions {
  int64_t max_length;  ///< of a sequence
  int64_t span;        ///< half of the table's rows
  int64_t buckets;     ///< positions are bucketed logarithmically when positive
  int64_t max_distance;

  /// Rows of the table, by offset of a key from a query.
  std::shared_ptr<const kernels::RelativePositionIndex> rows() const;
};

/// DeBERTa's attention: to the scores of the contents come those of content to position (c2p) and
/// of position to content (p2c).
/// Source: transformers, models/deberta_v2/modeling_deberta_v2.py (DisentangledSelfAttention).
class DisentangledAttention {
 public:
  /// position_keys (c2p) and position_queries (p2c): what the layer's projections make of the table
  /// of relative positions, [2 × span, hidden]; undefined where the model lacks the term.
  /// scale_factor: 1 and the number of terms that the configuration names. format: of the layer's
  /// attention.
  DisentangledAttention(const at::Tensor& position_keys, const at::Tensor& position_queries,
                        std::shared_ptr<const kernels::RelativePositionIndex> rows, int64_t num_heads,
                        int scale_factor, kernels::Format format);

  /// → [tokens or sequences, hidden]. Throws std::length_error: a sequence is longer than the
  /// positions reach.
  at::Tensor operator()(const Projections& projections, const PackedBatch& batch) const;

 private:
  std::shared_ptr<const kernels::RelativePositionIndex> rows_;
  std::vector<kernels::HeadPositions> heads_;  ///< empty: the model lacks both terms
  int64_t num_heads_;
  int scale_factor_;
};

}  // namespace backend::nn
