#include "encoder/nn/activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/square.h>
#include <ATen/ops/tanh.h>

#include <map>
#include <numbers>

#include "common/error.h"

namespace backend::nn {

using at::Tensor;

Tensor gelu(const Tensor& x) { return at::gelu(x); }
Tensor gelu_tanh(const Tensor& x) { return at::gelu(x, "tanh"); }
Tensor silu(const Tensor& x) { return at::silu(x); }

namespace {

Tensor laplace(const Tensor& x) {
  constexpr double kMu = 0.707107, kSigma = 0.282095;
  return (1 + at::erf((x - kMu) / (kSigma * std::numbers::sqrt2))) * 0.5;
}

const std::map<std::string, Activation>& table() {
  // gelu_new, gelu_fast and similar are variants of one formula with tanh. prelu and xielu are
  // missing: they have learned parameters, under architecture-specific keys.
  static const auto* activations = new std::map<std::string, Activation>{
      {"gelu", gelu},
      {"gelu_python", gelu},
      {"gelu_10", [](const Tensor& x) { return at::clamp(at::gelu(x), -10, 10); }},
      {"gelu_new", gelu_tanh},
      {"gelu_fast", gelu_tanh},
      {"gelu_accurate", gelu_tanh},
      {"gelu_pytorch_tanh", gelu_tanh},
      {"gelu_python_tanh", gelu_tanh},
      {"hardswish", [](const Tensor& x) { return at::hardswish(x); }},
      {"laplace", laplace},
      {"sqrtsoftplus", [](const Tensor& x) { return at::sqrt(at::softplus(x)); }},
      {"quick_gelu", [](const Tensor& x) { return x * at::sigmoid(x * 1.702); }},
      {"relu", [](const Tensor& x) { return at::relu(x); }},
      {"relu2", [](const Tensor& x) { return at::square(at::relu(x)); }},
      {"relu6", [](const Tensor& x) { return at::clamp(x, 0, 6); }},
      {"leaky_relu", [](const Tensor& x) { return at::leaky_relu(x); }},
      {"silu", silu},
      {"swish", silu},
      {"mish", [](const Tensor& x) { return at::mish(x); }},
      {"tanh", [](const Tensor& x) { return at::tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return at::sigmoid(x); }},
      {"linear", [](const Tensor& x) { return x; }},
  };
  return *activations;
}

}  // namespace

Activation activation_by_name(const std::string& name, const std::string& key) {
  const auto it = table().find(name);
  if (it != table().end()) return it->second;
  std::string known;
  for (const auto& [each, function] : table()) known += (known.empty() ? "" : ", ") + each;
  throw common::LoadError("config.json: " + key + ": \"" + name + "\" is not supported (" + known +
                          ")");
}

}  // namespace backend::nn
