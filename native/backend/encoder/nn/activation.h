#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace backend::nn {

using Activation = at::Tensor (*)(const at::Tensor&);

/// The one that a linear layer of ours does itself.
at::Tensor gelu(const at::Tensor& input);

/// By the name a config.json uses. Throws LoadError naming `key` and the names there are.
/// Source: transformers, src/transformers/activations.py (ACT2CLS).
Activation activation_by_name(const std::string& name, const std::string& key);

}  // namespace backend::nn
