#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/weights.h"
#include "encoder/nn/activation.h"
#include "packed/linear.h"

namespace backend::nn {

/// Whether a layer has an additive parameter.
enum class Bias { kYes, kNo };

/// y = x Wᵀ + b, float32 to float32, multiplied in the weights' number format. Keys: weight [out,
/// in], bias [out]. Copies share the weights.
class Linear {
 public:
  Linear(const Weights& weights, int64_t in_features, int64_t out_features, Bias bias = Bias::kYes);

  /// Of a weight that another layer has too (tied), as stored, and a bias, float32 or undefined.
  Linear(const at::Tensor& weight, const at::Tensor& bias, const Numbers& numbers);

  /// Several layers of one shape on the same input as one, their outputs side by side (query, key,
  /// value).
  static Linear side_by_side(std::initializer_list<Weights> layers, int64_t in_features,
                             int64_t out_features);

  /// The layer that gives only these of the outputs. It shares the weights.
  Linear outputs(int64_t first, int64_t count) const;

  /// In which it multiplies, and attention over its outputs.
  const Numbers& numbers() const { return numbers_; }

  /// [rows, in] → [rows, out]
  at::Tensor operator()(const at::Tensor& input) const;

  /// The same with an activation.
  at::Tensor operator()(const at::Tensor& input, Activation activation) const;

  /// y + the outputs and y × the outputs, [rows, out], in the place of y.
  at::Tensor added_to(at::Tensor y, const at::Tensor& input) const;
  at::Tensor times(at::Tensor y, const at::Tensor& input) const;

 private:
  at::Tensor into(at::Tensor y, const at::Tensor& input, kernels::Epilogue epilogue) const;

  std::shared_ptr<const PackedLinear> layer_;
  Numbers numbers_;
  int64_t first_ = 0;
  int64_t count_;
};

}  // namespace backend::nn
