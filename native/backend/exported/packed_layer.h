// Linear layers of a graph whose weights are constant, on the products that text encoders use.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "backend/backends.h"
#include "gemm/packed_linear.h"
#include "products/products.h"

namespace backend {

/// y = x Wᵀ + b over the last dimension of x.
class PackedLayer {
 public:
  PackedLayer(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype);

  /// Whether x is what the layer takes: float32 [..., in].
  bool takes(const at::Tensor& x) const;
  at::Tensor operator()(const at::Tensor& x, gemm::Activation activation) const;

 private:
  std::shared_ptr<const Product> product_;
  int64_t inputs_;
  int64_t outputs_;
};

/// Packs each weight once, however many nodes multiply by it.
class PackedLayers {
 public:
  explicit PackedLayers(Dtype dtype) : dtype_(dtype) {}

  /// weight: [out, in], of any strides. bias: [out] or undefined. Null where there is nothing to
  /// gain: no floating-point weight of two dimensions.
  std::shared_ptr<const PackedLayer> pack(const at::Tensor& weight, const at::Tensor& bias);

 private:
  using Key = std::tuple<const void*, int64_t, int64_t, int64_t, int64_t, const void*>;

  Dtype dtype_;
  std::map<Key, std::shared_ptr<const PackedLayer>> layers_;
};

}  // namespace backend
