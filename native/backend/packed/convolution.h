// Convolutions over one dimension, as matrix products with packed weights.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <span>
#include <string_view>

#include "packed/linear.h"

namespace backend {

/// Stride, dilation and padding of a convolution.
struct ConvolutionGeometry {
  int64_t stride = 1;    ///< samples; 1 if dilation > 1
  int64_t dilation = 1;  ///< samples between neighboring filter taps
  int64_t padding_before = 0;
  int64_t padding_after = 0;
};

/// y = W ∗ x + b in float32, for ungrouped filters over one dimension. The result of a window does
/// not depend on its batch, unlike LibTorch's, which uses a different algorithm for a single
/// window. Thread-safe.
class PackedConvolution {
 public:
  /// weight: float32 [filters, channels, samples]. bias: float32 [filters], undefined if absent.
  PackedConvolution(at::Tensor weight, const at::Tensor& bias, ConvolutionGeometry geometry);

  /// x: float32 [windows, channels, length] → [windows, filters, output length], with relu if
  /// `fuse_relu`. Other tensors are passed to LibTorch's operator, which throws its own errors.
  at::Tensor operator()(const at::Tensor& x, bool fuse_relu) const;

 private:
  bool accepts(const at::Tensor& x) const;
  at::Tensor convolved(const at::Tensor& x, bool fuse_relu) const;

  at::Tensor weight_;
  at::Tensor bias_;
  ConvolutionGeometry geometry_;
  PackedLinear linear_;
};

/// The convolution of an ATen operator with constant weights. `name`: "aten::conv1d" and similar.
/// `arguments`: those of the operator; the input is None. Null if it is not a supported
/// convolution.
std::shared_ptr<const PackedConvolution> packed_convolution(std::string_view name,
                                                            std::span<const c10::IValue> arguments);

}  // namespace backend
