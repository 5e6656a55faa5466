#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/weights.h"
#include "encoder/nn/activation.h"
#include "encoder/nn/linear.h"

namespace backend::nn {

/// Gated feed-forward network (SwiGLU, GeGLU): down(activation(gate(x)) × up(x)).
class GatedMlp {
 public:
  /// gate, up: [hidden] → [intermediate]; down: [intermediate] → [hidden].
  GatedMlp(Linear gate, Linear up, Linear down, Activation activation);

  /// [rows, hidden] → [rows, hidden]
  at::Tensor operator()(const at::Tensor& input) const { return down_(gated(input)); }

  /// y + the result, written to y.
  at::Tensor add_to(at::Tensor y, const at::Tensor& input) const;

 private:
  at::Tensor gated(const at::Tensor& input) const;

  Linear gate_, up_, down_;
  Activation activation_;
};

}  // namespace backend::nn
