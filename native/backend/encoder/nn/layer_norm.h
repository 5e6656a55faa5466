#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/weights.h"
#include "encoder/nn/linear.h"

namespace backend::nn {

/// Layer normalization over the last dimension. Keys: weight [size], bias [size].
class LayerNorm {
 public:
  LayerNorm(const Weights& weights, int64_t size, double epsilon, Bias bias = Bias::kYes);

  /// [rows, size] → [rows, size]
  at::Tensor operator()(const at::Tensor& input) const;

  /// Normalizes input + residual in place; returns `input`.
  at::Tensor normalize_sum(at::Tensor input, const at::Tensor& residual) const;

 private:
  void normalize(const at::Tensor& x, const at::Tensor* residual, const at::Tensor& y) const;

  at::Tensor weight_;
  std::optional<at::Tensor> bias_;
  double epsilon_;
};

}  // namespace backend::nn
