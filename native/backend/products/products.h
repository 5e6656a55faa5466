#pragma once

#include <ATen/core/Tensor.h>

#include "backend/backends.h"
#include "gemm/linear.h"

namespace backend {

/// A layer's weight and bias, laid out for the number format that multiplies. Any number of
/// threads.
class Product {
 public:
  /// weight: [out, in], of any floating-point type. bias: float32 [out], or undefined.
  Product(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype);

  /// float32 [rows, in] → float32 [rows, count]: outputs first … first + count - 1.
  at::Tensor operator()(const at::Tensor& x, int64_t first, int64_t count,
                        gemm::Activation activation) const;

 private:
  gemm::Linear linear_;
};

}  // namespace backend
