#pragma once

#include <ATen/ops/relu.h>

#include "encoder/nn/linear.h"

namespace backend::heads::gliner {

/// Linear layer, ReLU, linear layer, in float32. Keys "0" and "3".
/// Source: gliner, modeling/layers.py (create_projection_layer).
class Projection {
 public:
  Projection(const Weights& weights, int64_t in, int64_t inner, int64_t out)
      : first_((weights / "0").in_float32(), in, inner),
        second_((weights / "3").in_float32(), inner, out) {}

  /// [rows, in] → [rows, out]
  at::Tensor operator()(const at::Tensor& input) const { return second_(at::relu(first_(input))); }

 private:
  nn::Linear first_, second_;
};

}  // namespace backend::heads::gliner
