#pragma once

#include <ATen/core/Tensor.h>

#include "nn/linear.h"
#include "weights.h"

namespace backend::nn {

/// Layer normalization over the last dimension. Keys: weight [size], bias [size].
class LayerNorm {
 public:
  LayerNorm(const Weights& weights, int64_t size, double epsilon, Bias bias = Bias::kYes);

  at::Tensor operator()(const at::Tensor& input) const;

 private:
  at::Tensor weight_;
  std::optional<at::Tensor> bias_;
  double epsilon_;
};

}  // namespace backend::nn
