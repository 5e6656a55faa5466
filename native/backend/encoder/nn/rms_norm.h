#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/weights.h"

namespace backend::nn {

/// RMS normalization: x / √(mean(x²) + epsilon) × weight. Key: weight [size].
class RmsNorm {
 public:
  /// offset: is added to the stored weight (Gemma: 1).
  RmsNorm(const Weights& weights, int64_t size, double epsilon, float offset = 0);

  /// [rows, size] → [rows, size]
  at::Tensor operator()(const at::Tensor& input) const;

  /// Normalizes each head of the states in place: [rows, heads × size]. They may be columns of a
  /// larger tensor.
  void normalize_heads(const at::Tensor& states) const;

  /// y += the normalized input, [rows, size].
  at::Tensor add_to(at::Tensor y, const at::Tensor& input) const;

 private:
  void normalize(const at::Tensor& x, const at::Tensor& y, bool adds) const;

  at::Tensor weight_;
  double epsilon_;
};

}  // namespace backend::nn
