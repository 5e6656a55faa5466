#include "nn/linear.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>

namespace backend::nn {

Linear::Linear(const Weights& weights, int64_t in_features, int64_t out_features, Bias bias)
    : weight_(weights.get("weight", {out_features, in_features})) {
  if (bias == Bias::kYes) bias_ = weights.get("bias", {out_features});
}

Linear::Linear(at::Tensor weight, std::optional<at::Tensor> bias)
    : weight_(std::move(weight)), bias_(std::move(bias)) {}

Linear Linear::side_by_side(std::initializer_list<Linear> layers) {
  std::vector<at::Tensor> weights, biases;
  for (const auto& layer : layers) {
    weights.push_back(layer.weight_);
    if (layer.bias_) biases.push_back(*layer.bias_);
  }
  if (biases.empty()) return {at::cat(weights), std::nullopt};
  return {at::cat(weights), at::cat(biases)};
}

Linear Linear::outputs(int64_t first, int64_t count) const {
  std::optional<at::Tensor> bias;
  if (bias_) bias = bias_->narrow(0, first, count);
  return {weight_.narrow(0, first, count), bias};
}

at::Tensor Linear::operator()(const at::Tensor& input) const {
  return at::linear(input, weight_, bias_);
}

}  // namespace backend::nn
