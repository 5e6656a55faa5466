#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "backend/backends.h"
#include "gemm/packed_linear.h"

namespace backend {

/// A layer's weight and bias, laid out for the number format that multiplies.
class Product {
 public:
  virtual ~Product() = default;

  /// float32 [rows, in] → float32 [rows, count]: outputs first … first + count - 1.
  virtual at::Tensor operator()(const at::Tensor& x, int64_t first, int64_t count,
                                gemm::Activation activation) const = 0;
};

/// weight: [out, in], of any floating-point type. bias: float32 [out], or undefined.
std::shared_ptr<const Product> make_product(const at::Tensor& weight, const at::Tensor& bias,
                                            Dtype dtype);

}  // namespace backend
