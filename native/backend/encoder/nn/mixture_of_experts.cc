#include "encoder/nn/mixture_of_experts.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "common/error.h"
#include "kernels/elementwise.h"
#include "packed/parallel_for.h"

namespace backend::nn {
namespace {

/// Maximum number of tokens that are computed together. Limits the memory for the outputs of all
/// experts.
constexpr int64_t kBlockTokens = 4096;

void require_sizes(const ExpertOptions& options) {
  if (options.experts_per_token > options.experts) {
    throw common::LoadError("config.json: num_experts_per_tok: expected at most " +
                            std::to_string(options.experts) + " (num_local_experts), received " +
                            std::to_string(options.experts_per_token));
  }
}

/// Whether an expert is chosen before another: the higher logit, then the lower index. NaN is the
/// highest, so that it reaches the result.
bool is_before(const float* logits, int64_t expert, int64_t other) {
  const bool is_nan = std::isnan(logits[expert]), is_other_nan = std::isnan(logits[other]);
  if (is_nan != is_other_nan) return is_nan;
  if (is_nan || logits[expert] == logits[other]) return expert < other;
  return logits[expert] > logits[other];
}

/// A copy of one expert's weight, [out, in], from [experts, in, out].
at::Tensor weight_of(const at::Tensor& stored, int64_t expert) {
  return stored.select(0, expert).t().contiguous();
}

}  // namespace

/// Slots: one for each pair of a token and one of its experts, sorted by expert.
struct MixtureOfExperts::Routes {
  std::vector<int64_t> first_slot;  ///< [experts + 1]: slots of expert e start at first_slot[e]
  std::vector<int64_t> tokens;      ///< [slots]: token of a slot
  std::vector<int64_t> slots;       ///< [tokens × experts per token]: slots of a token, ascending
  std::vector<float> weights;       ///< [tokens × experts per token]: softmax, in the same order
};

MixtureOfExperts::MixtureOfExperts(const Weights& weights, const ExpertOptions& options)
    : options_((require_sizes(options), options)),
      router_((weights / "router").in_float32(), options.hidden_size, options.experts) {
  const int64_t hidden = options.hidden_size, inner = options.inner_size, count = options.experts;
  const Weights stored = weights / "experts";
  const at::Tensor gate_up = stored.get_as_stored("gate_up_proj", {count, hidden, 2 * inner});
  const at::Tensor gate_up_bias = stored.get("gate_up_proj_bias", {count, 2 * inner});
  const at::Tensor down = stored.get_as_stored("down_proj", {count, inner, hidden});
  const at::Tensor down_bias = stored.get("down_proj_bias", {count, hidden});
  // Expert by expert: only one is copied at a time, in its stored type.
  for (int64_t expert = 0; expert < count; ++expert) {
    experts_.push_back({.gate_up = Linear(weight_of(gate_up, expert),
                                          gate_up_bias.select(0, expert), weights.compute_types()),
                        .down = Linear(weight_of(down, expert), down_bias.select(0, expert),
                                       weights.compute_types())});
  }
  release_free_memory();
}

/// Selects the experts with the highest logits.
MixtureOfExperts::Routes MixtureOfExperts::route(const at::Tensor& input) const {
  const at::Tensor logits = router_(input);
  const int64_t tokens = input.size(0), per_token = options_.experts_per_token;
  const auto experts = static_cast<size_t>(options_.experts);
  Routes routes;
  routes.first_slot.resize(experts + 1);
  routes.slots.resize(static_cast<size_t>(tokens * per_token));
  routes.weights.resize(routes.slots.size());
  std::vector<int64_t> chosen(experts);
  for (int64_t token = 0; token < tokens; ++token) {
    const float* const row = logits.const_data_ptr<float>() + token * options_.experts;
    std::iota(chosen.begin(), chosen.end(), 0);
    const auto end = chosen.begin() + per_token;
    std::partial_sort(chosen.begin(), end, chosen.end(),
                      [row](int64_t a, int64_t b) { return is_before(row, a, b); });
    const float highest = row[chosen.front()];
    std::sort(chosen.begin(), end);
    float* const weights = routes.weights.data() + token * per_token;
    float sum = 0;
    for (int64_t i = 0; i < per_token; ++i) {
      const int64_t expert = chosen[static_cast<size_t>(i)];
      weights[i] = std::exp(row[expert] - highest);
      sum += weights[i];
      routes.slots[static_cast<size_t>(token * per_token + i)] = expert;
      ++routes.first_slot[static_cast<size_t>(expert) + 1];
    }
    for (int64_t i = 0; i < per_token; ++i) weights[i] /= sum;
  }
  std::partial_sum(routes.first_slot.begin(), routes.first_slot.end(), routes.first_slot.begin());
  // Replaces the expert of each pair by its slot.
  std::vector<int64_t> next(routes.first_slot.begin(), routes.first_slot.end() - 1);
  routes.tokens.resize(routes.slots.size());
  for (size_t pair = 0; pair < routes.slots.size(); ++pair) {
    const int64_t slot = next[static_cast<size_t>(routes.slots[pair])]++;
    routes.tokens[static_cast<size_t>(slot)] = static_cast<int64_t>(pair) / per_token;
    routes.slots[pair] = slot;
  }
  return routes;
}

/// (up + 1) × gate × sigmoid(alpha × gate), [rows, 2 × inner] → [rows, inner]. NaN stays NaN.
at::Tensor MixtureOfExperts::gated(const at::Tensor& gate_up) const {
  const int64_t rows = gate_up.size(0), inner = options_.inner_size;
  const float alpha = options_.alpha, limit = options_.limit;
  at::Tensor result = at::empty({rows, inner}, gate_up.options());
  const auto* from = gate_up.const_data_ptr<float>();
  auto* const to = result.mutable_data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < inner; ++i) {
      const float gate = from[row * 2 * inner + i];
      to[row * inner + i] = alpha * (gate > limit ? limit : gate);
    }
  }
  kernels::activate(kernels::Epilogue::kSilu, to, rows * inner);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < inner; ++i) {
      float up = from[row * 2 * inner + inner + i];
      up = up > limit ? limit : up;
      up = up < -limit ? -limit : up;
      to[row * inner + i] *= (up + 1) / alpha;
    }
  }
  return result;
}

/// Computes the outputs [slots, hidden] of one expert.
void MixtureOfExperts::compute(const Routes& routes, int64_t expert, const at::Tensor& input,
                               const at::Tensor& outputs) const {
  const int64_t first = routes.first_slot[static_cast<size_t>(expert)];
  const int64_t count = routes.first_slot[static_cast<size_t>(expert) + 1] - first;
  if (count == 0) return;
  const int64_t hidden = options_.hidden_size;
  const at::Tensor rows = at::empty({count, hidden}, input.options());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t token = routes.tokens[static_cast<size_t>(first + i)];
    std::copy_n(input.const_data_ptr<float>() + token * input.stride(0), hidden,
                rows.mutable_data_ptr<float>() + i * hidden);
  }
  const auto& [gate_up, down] = experts_[static_cast<size_t>(expert)];
  const at::Tensor result = down(gated(gate_up(rows)));
  std::copy_n(result.const_data_ptr<float>(), count * hidden,
              outputs.mutable_data_ptr<float>() + first * hidden);
}

at::Tensor MixtureOfExperts::add_to(at::Tensor y, const at::Tensor& input) const {
  y = y.contiguous();
  for (int64_t first = 0; first < input.size(0); first += kBlockTokens) {
    const int64_t count = std::min(kBlockTokens, input.size(0) - first);
    add_block(y.narrow(0, first, count), input.narrow(0, first, count));
  }
  return y;
}

/// add_to() for a block of tokens, with contiguous rows.
void MixtureOfExperts::add_block(const at::Tensor& y, const at::Tensor& input) const {
  const Routes routes = route(input);
  const int64_t tokens = input.size(0), hidden = options_.hidden_size;
  const int64_t per_token = options_.experts_per_token;
  const at::Tensor outputs = at::empty({tokens * per_token, hidden}, input.options());
  static const scheduler::AssignedPool no_pool{nullptr};
  parallel_for(options_.experts, [&](int64_t expert) {
    // The experts themselves run in parallel: their products are too small to be divided.
    const ScopedThreadPool serial(no_pool);
    compute(routes, expert, input, outputs);
  });
  auto* const to = y.mutable_data_ptr<float>();
  const auto* const from = outputs.const_data_ptr<float>();
  parallel_for_rows(tokens, per_token * hidden, [&](int64_t first, int64_t count) {
    // In the order of the experts, so that sums do not depend on the threads.
    for (int64_t pair = first * per_token; pair < (first + count) * per_token; ++pair) {
      const float weight = routes.weights[static_cast<size_t>(pair)];
      const float* const output = from + routes.slots[static_cast<size_t>(pair)] * hidden;
      float* const sum = to + pair / per_token * hidden;
      for (int64_t i = 0; i < hidden; ++i) sum[i] += weight * output[i];
    }
  });
}

}  // namespace backend::nn
