#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "backend/model_config.h"
#include "checkpoint/weights.h"
#include "encoder/nn/linear.h"

namespace backend::nn {

/// Sizes of a mixture of experts, and the limits of its activation.
struct ExpertOptions {
  int64_t hidden_size, inner_size;
  int64_t experts;
  int64_t experts_per_token;
  float alpha;  ///< factor within the sigmoid
  float limit;  ///< upper limit of the gate; limit of the absolute value of the other half
};

/// Mixture of experts. A router selects the experts of each token; the result is the sum of their
/// outputs, weighted by the softmax of their logits. Each expert is a gated feed-forward network
/// with biases: down((up + 1) × gate × sigmoid(alpha × gate)), with clamped gate and up.
///
/// Keys: router.weight [experts, hidden], router.bias; experts.gate_up_proj [experts, hidden,
/// 2 × inner] (x @ W, gate before up), experts.gate_up_proj_bias, experts.down_proj [experts,
/// inner, hidden], experts.down_proj_bias. Source: transformers,
/// models/openai_privacy_filter/modeling_openai_privacy_filter.py (OpenAIPrivacyFilterTopKRouter,
/// OpenAIPrivacyFilterExperts).
///
/// The router computes in float32. The layers of the experts compute in the type of the weights.
/// The result of a token does not depend on the other tokens. Thread-safe.
class MixtureOfExperts {
 public:
  /// Throws LoadError.
  MixtureOfExperts(const Weights& weights, const ExpertOptions& options);

  /// y + the result, [tokens, hidden], written to y.
  at::Tensor add_to(at::Tensor y, const at::Tensor& input) const;

 private:
  struct Expert {
    Linear gate_up, down;
  };
  struct Routes;

  Routes route(const at::Tensor& input) const;
  void add_block(const at::Tensor& y, const at::Tensor& input) const;
  void compute(const Routes& routes, int64_t expert, const at::Tensor& input,
               const at::Tensor& outputs) const;
  at::Tensor gated(const at::Tensor& gate_up) const;

  ExpertOptions options_;
  Linear router_;
  std::vector<Expert> experts_;
};

}  // namespace backend::nn
