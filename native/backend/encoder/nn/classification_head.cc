#include "encoder/nn/classification_head.h"

namespace backend::nn {

ClassificationHead::ClassificationHead(const Weights& dense, const Weights& output,
                                       int64_t hidden_size, int64_t num_labels,
                                       Activation activation)
    : dense_(dense.in_float32(), hidden_size, hidden_size),
      activation_(activation),
      output_(output.in_float32(), hidden_size, num_labels) {}

at::Tensor ClassificationHead::operator()(const at::Tensor& states) const {
  return output_(dense_(states, activation_));
}

}  // namespace backend::nn
