#include "encoder/nn/gated_mlp.h"

#include <utility>

namespace backend::nn {

GatedMlp::GatedMlp(Linear gate, Linear up, Linear down, Activation activation)
    : gate_(std::move(gate)), up_(std::move(up)), down_(std::move(down)), activation_(activation) {}

at::Tensor GatedMlp::gated(const at::Tensor& input) const {
  return up_.multiply_into(gate_(input, activation_), input);
}

at::Tensor GatedMlp::add_to(at::Tensor y, const at::Tensor& input) const {
  return down_.add_to(std::move(y), gated(input));
}

}  // namespace backend::nn
