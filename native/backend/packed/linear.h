// Linear layers on packed weights: those of text encoders, and those of programs whose weights are
// constant.
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
#include "kernels/matmul.h"

namespace backend {

/// y = x Wᵀ + b with a weight and a bias that are laid out for the number format that multiplies.
/// LibTorch's products may add up the same row in another order when there are others: here its
/// bits never depend on them. Any number of threads.
class PackedLinear {
 public:
  /// weight: [out, in], of any floating-point type. bias: float32 [out], or undefined.
  PackedLinear(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype);

  int64_t inputs() const { return linear_.inputs(); }
  int64_t outputs() const { return outputs_; }

  /// float32 [rows, in] → float32 [rows, count]: outputs first … first + count - 1.
  at::Tensor operator()(const at::Tensor& x, int64_t first, int64_t count,
                        kernels::Epilogue epilogue) const;

  /// The same into y, float32 [rows, count], rows end to end: what the epilogue reads, too.
  void into(const at::Tensor& x, int64_t first, kernels::Epilogue epilogue, const at::Tensor& y) const;

  /// Whether x is float32 [..., in], in > 0.
  bool takes(const at::Tensor& x) const;
  /// float32 [..., in] → [..., out]
  at::Tensor operator()(const at::Tensor& x, kernels::Epilogue epilogue) const;

 private:
  int64_t outputs_;
  kernels::Linear linear_;
};

/// Which argument of an operator of ATen (linear, addmm, mm, matmul) is multiplied by what may be a
/// constant weight. Nothing: it is another operator.
std::optional<size_t> linear_input(std::string_view name);

/// Packs each weight once, however many nodes multiply by it.
class PackedLinears {
 public:
  explicit PackedLinears(Dtype dtype) : dtype_(dtype) {}

  /// `arguments`: the operator's own, but for linear_input(), which is left empty. Null where it is
  /// no linear layer, or LibTorch has to do it.
  std::shared_ptr<const PackedLinear> pack(std::string_view name,
                                           std::span<const c10::IValue> arguments);

 private:
  std::shared_ptr<const PackedLinear> pack(const at::Tensor& weight, const at::Tensor& bias);

  /// Address, sizes and strides of the weight, address and stride of the bias.
  using Key = std::tuple<const void*, int64_t, int64_t, int64_t, int64_t, const void*, int64_t>;

  Dtype dtype_;
  std::map<Key, std::shared_ptr<const PackedLinear>> layers_;
};

}  // namespace backend
