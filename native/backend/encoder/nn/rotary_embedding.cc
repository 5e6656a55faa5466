#include "encoder/nn/rotary_embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>

#include <cmath>
#include <utility>

#include "kernels/elementwise.h"
#include "packed/parallel_for.h"

namespace backend::nn {

namespace {

at::Tensor inverse_frequencies(int64_t head_size, double theta) {
  return at::reciprocal(
      at::pow(theta, at::arange(0, head_size, 2, at::TensorOptions(at::kFloat)) / head_size));
}

/// Source: modeling.py of Alibaba-NLP/new-impl (NTKScalingRotaryEmbedding).
at::Tensor ntk_frequencies(int64_t head_size, double theta, const RotaryScaling& scaling) {
  const auto size = static_cast<double>(head_size);
  if (!scaling.mixed_b) {
    return inverse_frequencies(head_size, theta * scaling.factor) /
           std::pow(scaling.factor, 2 / size);
  }
  const double b = *scaling.mixed_b;
  const double a = std::log(scaling.factor) / std::pow(size / 2, b);
  const at::Tensor steps = at::arange(1, head_size / 2 + 1, at::TensorOptions(at::kFloat));
  return inverse_frequencies(head_size, theta) / at::exp(a * at::pow(steps, b));
}

/// theta for a sequence of this length, which is longer than those of the training.
double dynamic_theta(int64_t head_size, double theta, const RotaryScaling& scaling,
                     int64_t length) {
  const auto size = static_cast<double>(head_size);
  const double stretch = static_cast<double>(length) / static_cast<double>(scaling.trained_length);
  return theta * std::pow(scaling.factor * stretch - (scaling.factor - 1), size / (size - 2));
}

}  // namespace

RotaryEmbedding::RotaryEmbedding(int64_t head_size, double theta, const RotaryScaling& scaling)
    : head_size_(head_size),
      theta_(theta),
      scaling_(scaling),
      inverse_frequencies_(scaling.factor != 1 && scaling.trained_length == 0
                               ? ntk_frequencies(head_size, theta, scaling)
                               : inverse_frequencies(head_size, theta)) {}

RotaryEmbedding::RotaryEmbedding(at::Tensor inverse_frequencies, double factor)
    : head_size_(2 * inverse_frequencies.size(0)),
      theta_(0),
      inverse_frequencies_(std::move(inverse_frequencies)),
      factor_(factor) {}

RotaryEmbedding::Angles RotaryEmbedding::angles(const PackedBatch& batch) const {
  const at::Tensor positions = batch.position_ids().to(at::kFloat).unsqueeze(1);
  const at::Tensor angles = positions * inverse_frequencies_;
  for (const auto& [first, sequences, length] : batch.groups) {
    if (scaling_.trained_length == 0 || length <= scaling_.trained_length) continue;
    const at::Tensor scaled =
        inverse_frequencies(head_size_, dynamic_theta(head_size_, theta_, scaling_, length));
    const int64_t count = sequences * length;
    angles.narrow(0, first, count).copy_(positions.narrow(0, first, count) * scaled);
  }
  Angles result{.cos = at::cos(angles), .sin = at::sin(angles)};
  if (factor_ != 1) {
    result.cos.mul_(factor_);
    result.sin.mul_(factor_);
  }
  return result;
}

RotaryEmbedding make_rotary(const ModelConfig& config, int64_t head_size, double default_theta) {
  config.require_one_of("rope_parameters.rope_type", {"default", "dynamic", "ntk"});
  const double theta = config.positive_number_or(
      "rope_parameters.rope_theta", config.positive_number_or("rope_theta", default_theta));
  const std::string type = config.string_or("rope_parameters.rope_type", "default");
  if (type == "default") return {head_size, theta};
  RotaryScaling scaling{.factor = config.positive_number_or("rope_parameters.factor", 1)};
  if (type == "dynamic") {
    const int64_t positions = config.positive_integer("max_position_embeddings");
    scaling.trained_length = config.integer_or("original_max_position_embeddings", positions);
  } else if (config.number_or("rope_parameters.mixed_b", 0) != 0) {
    scaling.mixed_b = config.positive_number_or("rope_parameters.mixed_b", 1);
  }
  return {head_size, theta, scaling};
}

void rotate(const at::Tensor& states, int64_t num_heads, const RotaryEmbedding::Angles& angles) {
  const int64_t hidden = states.size(1), half = angles.cos.size(1), stride = states.stride(0);
  auto* const first = states.mutable_data_ptr<float>();
  const auto* const cos = angles.cos.const_data_ptr<float>();
  const auto* const sin = angles.sin.const_data_ptr<float>();
  parallel_for_rows(states.size(0), hidden, [&](int64_t row, int64_t count) {
    kernels::rotate({.states = first + row * stride,
                     .stride = stride,
                     .rows = count,
                     .heads = num_heads,
                     .half = half,
                     .cos = cos + row * half,
                     .sin = sin + row * half});
  });
}

}  // namespace backend::nn
