// Packed linear layers that several models share.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "packed/linear.h"

namespace backend {

/// Returns the layer with these weights, bias and data type: one that another model of the process
/// holds, or a new one. Layers are compared by a keyed hash of their content. Thread-safe.
/// Parameters: see PackedLinear.
std::shared_ptr<const PackedLinear> share_layer(const at::Tensor& weight, const at::Tensor& bias,
                                                Dtype dtype);

}  // namespace backend
