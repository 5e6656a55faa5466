#include "encoder/nn/yarn.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "common/error.h"

namespace backend::nn {
namespace {

constexpr double kBetaFast = 32, kBetaSlow = 1;

std::string key_of(const char* name) { return std::string("rope_parameters.") + name; }

/// A number above 0; absent, null and 0 mean the default, as in the reference.
double number_or(const ModelConfig& config, const char* name, double fallback) {
  const std::string key = key_of(name);
  return config.number_or(key, 0) == 0 ? fallback : config.positive_number_or(key, fallback);
}

/// Dimension whose frequency turns so many times within the positions of the training.
double correction_dimension(double rotations, int64_t head_size, double theta, double positions) {
  return static_cast<double>(head_size) * std::log(positions / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(theta));
}

double magnitude(double factor, double scale) {
  return factor <= 1 ? 1 : 0.1 * scale * std::log(factor) + 1;
}

/// Factor of cosines and sines.
double attention_factor(const ModelConfig& config, double factor) {
  const double scale = config.number_or(key_of("mscale"), 0);
  const double all_scale = config.number_or(key_of("mscale_all_dim"), 0);
  const double inferred = scale != 0 && all_scale != 0
                              ? magnitude(factor, scale) / magnitude(factor, all_scale)
                              : magnitude(factor, 1);
  return config.positive_number_or(key_of("attention_factor"), inferred);
}

}  // namespace

RotaryEmbedding make_yarn_rotary(const ModelConfig& config, int64_t head_size,
                                 double default_theta) {
  const double theta = config.positive_number_or(
      key_of("rope_theta"), config.positive_number_or("rope_theta", default_theta));
  if (theta <= 1) {
    throw common::LoadError("config.json: rope_parameters.rope_theta: expected more than 1");
  }
  const auto positions = static_cast<double>(config.positive_integer("max_position_embeddings"));
  const double trained =
      config.positive_number_or(key_of("original_max_position_embeddings"), positions);
  const double factor = config.positive_number_or(key_of("factor"), positions / trained);
  double low =
      correction_dimension(number_or(config, "beta_fast", kBetaFast), head_size, theta, trained);
  double high =
      correction_dimension(number_or(config, "beta_slow", kBetaSlow), head_size, theta, trained);
  if (config.boolean_or(key_of("truncate"), true)) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(head_size - 1));
  constexpr double kMinWidth = 0.001;  // no division by 0
  if (low == high) high += kMinWidth;
  const at::TensorOptions floats(at::kFloat);
  const at::Tensor powers = at::pow(theta, at::arange(0, head_size, 2, floats) / head_size);
  const at::Tensor ramp = at::clamp((at::arange(head_size / 2, floats) - low) / (high - low), 0, 1);
  const at::Tensor kept = 1 - ramp;
  return {at::reciprocal(factor * powers) * (1 - kept) + at::reciprocal(powers) * kept,
          attention_factor(config, factor)};
}

at::Tensor order_of_interleaved_pairs(int64_t heads, int64_t head_size) {
  return at::arange(heads * head_size, at::TensorOptions(at::kLong))
      .view({heads, head_size / 2, 2})
      .transpose(1, 2)
      .reshape({-1});
}

}  // namespace backend::nn
