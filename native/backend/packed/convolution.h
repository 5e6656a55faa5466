// Convolutions over one dimension, on packed products.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <memory>
#include <span>
#include <string_view>

#include "packed/linear.h"

namespace backend {

/// Where the filters are laid on the input.
struct FilterPlaces {
  int64_t stride = 1;    ///< samples from place to place; 1 where dilation is not
  int64_t dilation = 1;  ///< samples from one number of a filter to the next
  int64_t zeros_before = 0;
  int64_t zeros_behind = 0;
};

/// y = W ∗ x + b in float32, filters over one dimension and not in groups. LibTorch goes another
/// way for one window than for several, and its last bits differ: here a window's never depend on
/// its batch. Any number of threads.
class PackedConvolution {
 public:
  /// weight: float32 [filters, channels, samples]. bias: float32 [filters], or undefined.
  PackedConvolution(at::Tensor weight, const at::Tensor& bias, FilterPlaces places);

  /// x: [windows, channels, length] → [windows, filters, places]; negative numbers become zeros
  /// where it is `rectified`. What is no such tensor of float32 is left to LibTorch, and throws
  /// what that throws.
  at::Tensor operator()(const at::Tensor& x, bool rectified) const;

 private:
  bool takes(const at::Tensor& x) const;
  at::Tensor convolved(const at::Tensor& x, bool rectified) const;

  at::Tensor weight_;
  at::Tensor bias_;
  FilterPlaces places_;
  PackedLinear product_;
};

/// `name`: of an operator of ATen. `arguments`: its own, but for the input, which is left empty.
/// Null where it is no convolution, or LibTorch has to do it.
std::shared_ptr<const PackedConvolution> packed_convolution(std::string_view name,
                                                            std::span<const c10::IValue> arguments);

}  // namespace backend
