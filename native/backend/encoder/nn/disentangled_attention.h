#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "encoder/nn/attention.h"
#include "kernels/attention.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// Parameters of DeBERTa-v2's table of relative positions.
struct RelativePositions {
  int64_t max_length;  ///< maximum length of a sequence
  int64_t span;        ///< half of the number of table rows
  int64_t buckets;     ///< positive: positions are bucketed logarithmically
  int64_t max_distance;

  /// Table rows by the offset of a key from a query.
  std::shared_ptr<const kernels::RelativePositionIndex> rows() const;
};

/// DeBERTa's attention: content scores plus content-to-position (c2p) and position-to-content (p2c)
/// scores. Source: transformers, models/deberta_v2/modeling_deberta_v2.py
/// (DisentangledSelfAttention).
class DisentangledAttention {
 public:
  /// position_keys (c2p), position_queries (p2c): projections of the table of relative positions,
  /// [2 × span, hidden]; undefined if the model lacks the term. scale_factor: 1 + number of terms
  /// in config.json. format: number format of attention.
  DisentangledAttention(const at::Tensor& position_keys, const at::Tensor& position_queries,
                        std::shared_ptr<const kernels::RelativePositionIndex> rows,
                        int64_t num_heads, int scale_factor, kernels::Format format);

  /// → [tokens or sequences, hidden]. Throws std::length_error if a sequence is longer than
  /// max_length.
  at::Tensor operator()(const Projections& projections, const PackedBatch& batch) const;

 private:
  std::shared_ptr<const kernels::RelativePositionIndex> rows_;
  std::vector<kernels::HeadPositions> heads_;  ///< empty: the model lacks both terms
  int64_t num_heads_;
  int scale_factor_;
};

}  // namespace backend::nn
