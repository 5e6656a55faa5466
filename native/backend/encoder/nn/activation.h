#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace backend::nn {

using Activation = at::Tensor (*)(const at::Tensor&);

/// The activations that are fused into linear layers.
at::Tensor gelu(const at::Tensor& input);
at::Tensor gelu_tanh(const at::Tensor& input);
at::Tensor silu(const at::Tensor& input);

/// Activation by its name in config.json. Throws LoadError with `key` and the supported names.
/// Source: transformers, src/transformers/activations.py (ACT2CLS).
Activation activation_by_name(const std::string& name, const std::string& key);

}  // namespace backend::nn
