#pragma once

#include <ATen/core/Tensor.h>

#include "encoder/nn/activation.h"
#include "encoder/nn/linear.h"

namespace backend::nn {

/// Two linear layers with an activation between, from a sequence's state to its logits: every
/// architecture has one, under names of its own.
class ClassificationHead {
 public:
  ClassificationHead(const Weights& dense, const Weights& output, int64_t hidden_size,
                     int64_t num_labels, Activation activation);

  /// [sequences, hidden] → logits [sequences, num_labels]
  at::Tensor operator()(const at::Tensor& states) const;

 private:
  Linear dense_;
  Activation activation_;
  Linear output_;
};

}  // namespace backend::nn
