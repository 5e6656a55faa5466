// Linear layers with packed weights, for text encoders and for programs with constant weights.
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

/// y = x Wᵀ + b, with weights packed for the kernel of a data type. The result of a row does not
/// depend on the other rows of a batch, unlike LibTorch's. Thread-safe.
class PackedLinear {
 public:
  /// weight: [out, in], any floating-point type. bias: float32 [out], undefined if absent.
  PackedLinear(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype);

  int64_t inputs() const { return linear_.inputs(); }
  int64_t outputs() const { return outputs_; }

  /// float32 [rows, in] → float32 [rows, count]: outputs first … first + count - 1.
  at::Tensor operator()(const at::Tensor& x, int64_t first, int64_t count,
                        kernels::Epilogue epilogue) const;

  /// Like operator(), into y: float32 [rows, count] with contiguous rows. Some epilogues read y.
  void into(const at::Tensor& x, int64_t first, kernels::Epilogue epilogue,
            const at::Tensor& y) const;

  /// True if x is float32 [..., in] with in > 0.
  bool accepts(const at::Tensor& x) const;
  /// float32 [..., in] → [..., out]
  at::Tensor operator()(const at::Tensor& x, kernels::Epilogue epilogue) const;

 private:
  int64_t outputs_;
  kernels::Linear linear_;
};

/// Applies the activation kGelu, kGeluTanh or kSilu to each value of y, contiguous float32, as the
/// epilogue of a linear layer does.
void activate(const at::Tensor& y, kernels::Epilogue epilogue);

/// Index of the input argument of an ATen operator that may be a linear layer (linear, addmm, mm,
/// matmul); empty for other operators.
std::optional<size_t> linear_input(std::string_view name);

/// Linear layers of a program. Each weight is packed once, even if several nodes use it.
class PackedLinears {
 public:
  explicit PackedLinears(Dtype dtype) : dtype_(dtype) {}

  /// Packs the weight of an ATen operator. `arguments`: those of the operator; linear_input() is
  /// None. Null if it is not a supported linear layer.
  std::shared_ptr<const PackedLinear> pack(std::string_view name,
                                           std::span<const c10::IValue> arguments);

 private:
  std::shared_ptr<const PackedLinear> pack(const at::Tensor& weight, const at::Tensor& bias);

  /// Address, sizes and strides of the weight; address and stride of the bias.
  using Key = std::tuple<const void*, int64_t, int64_t, int64_t, int64_t, const void*, int64_t>;

  Dtype dtype_;
  std::map<Key, std::shared_ptr<const PackedLinear>> layers_;
};

}  // namespace backend
