// Linear layers of a program whose weights are constant, on the products that text encoders use.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include "backend/backends.h"
#include "gemm/linear.h"
#include "products/products.h"

namespace backend {

/// y = x Wᵀ + b over the last dimension of x. LibTorch's products may add up the same row in
/// another order when there are others: here its bits never depend on them. Any number of threads.
class PackedLayer {
 public:
  PackedLayer(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype);

  /// Whether x is what the layer takes: float32 [..., in].
  bool takes(const at::Tensor& x) const;
  int64_t inputs() const { return inputs_; }
  at::Tensor operator()(const at::Tensor& x, gemm::Activation activation) const;

 private:
  Product product_;
  int64_t inputs_;
  int64_t outputs_;
};

/// Which argument of an operator of ATen (linear, addmm, mm, matmul) is multiplied by what may be a
/// constant weight. Nothing: it is another operator.
std::optional<size_t> linear_input(std::string_view name);

/// Packs each weight once, however many nodes multiply by it.
class PackedLayers {
 public:
  explicit PackedLayers(Dtype dtype) : dtype_(dtype) {}

  /// `arguments`: the operator's own, but for linear_input(), which is left empty. Null where it is
  /// no linear layer, or LibTorch has to do it.
  std::shared_ptr<const PackedLayer> pack(std::string_view name,
                                          std::span<const c10::IValue> arguments);

 private:
  std::shared_ptr<const PackedLayer> pack(const at::Tensor& weight, const at::Tensor& bias);

  using Key = std::tuple<const void*, int64_t, int64_t, int64_t, int64_t, const void*>;

  Dtype dtype_;
  std::map<Key, std::shared_ptr<const PackedLayer>> layers_;
};

}  // namespace backend
