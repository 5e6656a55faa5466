// Maximum and average pooling over one or two dimensions.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "packed/planes.h"

namespace backend {

/// Pooling with vectors of neighboring results. LibTorch computes one result at a time. Maxima are
/// equal, averages are summed in another order. Thread-safe.
class Pooling {
 public:
  enum class Kind { kMaximum, kAverage };

  /// taps, geometry: one for each dimension, with equal padding on both sides and no dilation.
  Pooling(Kind kind, std::vector<int64_t> taps, std::vector<ConvolutionGeometry> geometry);

  /// x: float32 [windows, channels, (rows,) samples]. Other tensors are passed to LibTorch's
  /// operator, which throws its own errors.
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  bool accepts(const at::Tensor& x) const;
  at::Tensor by_libtorch(const at::Tensor& x) const;

  Kind kind_;
  std::vector<int64_t> taps_;
  std::vector<ConvolutionGeometry> geometry_;
};

/// The pooling of an ATen operator. `name`: "aten::max_pool1d" and similar. `arguments`: those of
/// the operator; the input is None. Null if it is not a supported pooling.
std::shared_ptr<const Pooling> pooling(std::string_view name,
                                       std::span<const c10::IValue> arguments);

}  // namespace backend
