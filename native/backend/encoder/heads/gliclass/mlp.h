#pragma once

#include "encoder/nn/activation.h"
#include "encoder/nn/linear.h"

namespace backend::heads::gliclass {

/// Three linear layers with activations between them, to one value. Keys "0", "2" and "4".
class Mlp {
 public:
  /// The second layer has inner / 2 outputs.
  Mlp(const Weights& weights, int64_t in, int64_t inner, nn::Activation activation)
      : activation_(activation),
        first_(weights / "0", in, inner),
        second_(weights / "2", inner, inner / 2),
        third_(weights / "4", inner / 2, 1) {}

  /// [rows, in] → [rows, 1]
  at::Tensor operator()(const at::Tensor& input) const {
    return third_(second_(first_(input, activation_), activation_));
  }

 private:
  nn::Activation activation_;
  nn::Linear first_, second_, third_;
};

}  // namespace backend::heads::gliclass
