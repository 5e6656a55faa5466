#include "encoder/nn/disentangled_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <stdexcept>
#include <utility>

namespace backend::nn {
namespace {

/// make_log_bucket_position of the reference, in its operation order and precision: near a bucket
/// boundary, other rounding would select another bucket.
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

double score_scale(int64_t head_size, int scale_factor) {
  return 1 / std::sqrt(static_cast<double>(head_size * scale_factor));
}

}  // namespace

std::shared_ptr<const kernels::RelativePositionIndex> RelativePositions::rows() const {
  // Distance of a query from a key, descending.
  at::Tensor distance = at::arange(-(max_length - 1), max_length).flip(0);
  if (buckets > 0 && max_distance > 0) distance = log_bucket(distance, buckets, max_distance);
  const at::Tensor rows = at::clamp(distance + span, 0, 2 * span - 1).contiguous();
  return std::make_shared<kernels::RelativePositionIndex>(
      std::span(rows.const_data_ptr<int64_t>(), static_cast<size_t>(rows.numel())));
}

DisentangledAttention::DisentangledAttention(
    const at::Tensor& position_keys, const at::Tensor& position_queries,
    std::shared_ptr<const kernels::RelativePositionIndex> rows, int64_t num_heads, int scale_factor,
    kernels::Format format)
    : rows_(std::move(rows)), num_heads_(num_heads), scale_factor_(scale_factor) {
  if (!position_keys.defined() && !position_queries.defined()) return;
  const at::Tensor order = at::tensor(rows_->table_rows());
  const auto in_order = [&order](const at::Tensor& table) {
    return table.defined() ? at::index_select(table, 0, order) : table;
  };
  const at::Tensor keys = in_order(position_keys), queries = in_order(position_queries);
  const int64_t hidden = (keys.defined() ? keys : queries).size(1), head_size = hidden / num_heads;
  const auto of_head = [head_size](const at::Tensor& vectors, int64_t head) {
    return vectors.defined() ? vectors.const_data_ptr<float>() + head * head_size : nullptr;
  };
  for (int64_t head = 0; head < num_heads; ++head) {
    heads_.emplace_back(format, kernels::PositionVectors{.index = rows_.get(),
                                                         .keys = of_head(keys, head),
                                                         .queries = of_head(queries, head),
                                                         .stride = hidden,
                                                         .head_size = head_size,
                                                         .scale = static_cast<float>(score_scale(
                                                             head_size, scale_factor))});
  }
}

at::Tensor DisentangledAttention::operator()(const Projections& projections,
                                             const PackedBatch& batch) const {
  if (batch.max_length() > rows_->max_tokens()) {
    throw std::length_error("a sequence is longer than max_position_embeddings");
  }
  const int64_t head_size = projections.query.size(1) / num_heads_;
  return self_attention(projections, batch, num_heads_,
                        {.scale = score_scale(head_size, scale_factor_), .positions = heads_});
}

}  // namespace backend::nn
