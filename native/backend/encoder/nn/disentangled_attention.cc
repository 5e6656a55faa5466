#include "encoder/nn/disentangled_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/as_strided.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <vector>

namespace backend::nn {
namespace {

/// make_log_bucket_position of the reference, in its own order and precision: near a bucket's
/// border another rounding would choose the neighbour.
at::Tensor log_bucket(const at::Tensor& distance, int64_t buckets, int64_t max_distance) {
  const int64_t mid = buckets / 2;
  const at::Tensor sign = at::sign(distance);
  const at::Tensor magnitude =
      at::where((distance < mid) & (distance > -mid), at::full({}, mid - 1, distance.options()),
                at::abs(distance));
  const double ratio = static_cast<double>(max_distance - 1) / static_cast<double>(mid);
  const at::Tensor range = at::log(at::full({}, ratio, at::kFloat));
  const at::Tensor place =
      at::ceil(at::log(magnitude.to(at::kFloat) / mid) / range * (mid - 1)) + mid;
  return at::where(magnitude <= mid, distance.to(at::kFloat), place * sign).to(at::kLong);
}

/// table [2 × span, hidden] → [heads, distances, head_size], the rows named.
at::Tensor rows_by_head(const at::Tensor& table, const at::Tensor& rows, int64_t num_heads) {
  return at::index_select(table, 0, rows)
      .view({rows.size(0), num_heads, -1})
      .transpose(0, 1)
      .contiguous();
}

/// scores [sequences, heads, rows, 2 × length − 1] → [sequences, heads, rows, length], where
/// element (i, j) is that of row i at column length − 1 − i + j: a view, its rows shifted.
at::Tensor skewed(const at::Tensor& scores, int64_t length) {
  const int64_t width = 2 * length - 1;
  const int64_t heads = scores.size(1), rows = scores.size(2);
  return at::as_strided(scores, {scores.size(0), heads, rows, length},
                        {heads * rows * width, rows * width, width - 1, 1}, length - 1);
}

}  // namespace

at::Tensor RelativePositions::rows() const {
  at::Tensor distance = at::arange(-(max_length - 1), max_length);
  if (buckets > 0 && max_distance > 0) distance = log_bucket(distance, buckets, max_distance);
  return at::clamp(distance + span, 0, 2 * span - 1);
}

DisentangledAttention::DisentangledAttention(const at::Tensor& position_keys,
                                             const at::Tensor& position_queries,
                                             const RelativePositions& positions, int64_t num_heads,
                                             int scale_factor)
    : max_length_(positions.max_length), num_heads_(num_heads), scale_factor_(scale_factor) {
  const at::Tensor rows = positions.rows();
  if (position_keys.defined()) {
    position_keys_ = rows_by_head(position_keys, rows.flip(0), num_heads);
  }
  if (position_queries.defined()) {
    position_queries_ = rows_by_head(position_queries, rows, num_heads);
  }
}

at::Tensor DisentangledAttention::operator()(const Projections& projections,
                                             const PackedBatch& batch) const {
  const bool first_only = projections.outputs == Outputs::kFirstTokens;
  const int64_t hidden = projections.query.size(1);
  const at::Tensor key = projections.key_value.narrow(1, 0, hidden);
  const int64_t head_size = hidden / num_heads_;
  const double scale = 1 / std::sqrt(static_cast<double>(head_size * scale_factor_));
  std::vector<at::Tensor> biases;
  int64_t first_sequence = 0;
  for (const auto& [first_token, sequences, length] : batch.groups) {
    std::vector<at::Tensor> of_group;
    // Each alone: with several, LibTorch may multiply in another order, and the last bits of an
    // answer would depend on its batch.
    for (int64_t i = 0; i < sequences; ++i) {
      const int64_t token = first_token + i * length;
      const at::Tensor query =
          first_only ? by_head(projections.query, first_sequence + i, 1, 1, num_heads_)
                     : by_head(projections.query, token, 1, length, num_heads_);
      const at::Tensor bias =
          position_scores(query, by_head(key, token, 1, length, num_heads_), scale);
      if (bias.defined()) of_group.push_back(bias);
    }
    if (!of_group.empty()) {
      biases.push_back(of_group.size() == 1 ? of_group.front() : at::cat(of_group));
    }
    first_sequence += sequences;
  }
  return self_attention(projections, batch, num_heads_, {.scale = scale, .biases = biases});
}

at::Tensor DisentangledAttention::position_scores(const at::Tensor& query, const at::Tensor& key,
                                                  double scale) const {
  const int64_t length = key.size(2);
  const int64_t first = max_length_ - length, count = 2 * length - 1;
  at::Tensor scores;
  if (position_keys_.defined()) {
    // Row i of the query, column of the distance i − j.
    const at::Tensor keys = position_keys_.narrow(1, first, count);
    scores = skewed(at::matmul(query, keys.transpose(1, 2)), length) * scale;
  }
  if (position_queries_.defined()) {
    // Row j of the key, column of the distance i − j: transposed at the end.
    const at::Tensor queries = position_queries_.narrow(1, first, count);
    const at::Tensor by_key = skewed(at::matmul(key, queries.transpose(1, 2)), length);
    const at::Tensor by_query = by_key.narrow(3, 0, query.size(2)).transpose(2, 3) * scale;
    scores = scores.defined() ? scores + by_query : by_query;
  }
  return scores;
}

}  // namespace backend::nn
