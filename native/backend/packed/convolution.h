// Convolutions over one or two dimensions with packed weights.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/convolution.h"
#include "packed/linear.h"
#include "packed/planes.h"

namespace backend {

/// y = W ∗ x + b in float32, with or without groups. The result of a window does not depend on its
/// batch, unlike LibTorch's, which uses a different algorithm for a single window. Thread-safe.
class PackedConvolution {
 public:
  /// weight: float32 [filters, channels / groups, samples] or [filters, channels / groups, rows,
  /// samples]. bias: float32 [filters], undefined if absent. geometry: one for each dimension.
  PackedConvolution(at::Tensor weight, const at::Tensor& bias,
                    std::vector<ConvolutionGeometry> geometry, int64_t groups);

  /// x: float32 [windows, channels, (rows,) samples] → [windows, filters, (rows,) samples], with
  /// relu if `fuse_relu`. Other tensors are passed to LibTorch's operator, which throws its own
  /// errors.
  at::Tensor operator()(const at::Tensor& x, bool fuse_relu) const;

 private:
  bool accepts(const at::Tensor& x) const;
  Planes planes_of(const at::Tensor& x) const;
  at::Tensor by_libtorch(const at::Tensor& x) const;
  at::Tensor convolved(const at::Tensor& x, bool fuse_relu) const;
  bool is_short(const Planes& planes) const;
  void multiply(const Planes& planes, const float* x, const at::Tensor& y, bool fuse_relu) const;
  void filter(const Planes& planes, const float* x, const at::Tensor& y, bool fuse_relu) const;

  at::Tensor weight_;
  at::Tensor bias_;
  std::vector<ConvolutionGeometry> geometry_;
  std::vector<kernels::Filters> groups_;
  // The weights once more, packed at the first input with a short output.
  mutable std::once_flag is_packed_;
  mutable std::unique_ptr<const PackedLinear> linear_;
};

/// The convolution of an ATen operator with constant weights. `name`: "aten::conv1d" and similar.
/// `arguments`: those of the operator; the input is None. Null if it is not a supported
/// convolution.
std::shared_ptr<const PackedConvolution> packed_convolution(std::string_view name,
                                                            std::span<const c10::IValue> arguments);

}  // namespace backend
