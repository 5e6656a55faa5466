#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "checkpoint/weights.h"

namespace backend::nn {

/// Bidirectional LSTM over the sequences of a batch, in float32. Each sequence is computed alone,
/// so that its result does not depend on the others. Keys as in torch.nn.LSTM: weight_ih_l0,
/// weight_hh_l0, bias_ih_l0, bias_hh_l0, those with "_reverse", and those of further layers.
class Lstm {
 public:
  /// Each direction has hidden_size / 2 outputs. Throws LoadError if hidden_size is odd.
  Lstm(const Weights& weights, int64_t hidden_size, int64_t layers);

  /// Ignores the keys of an LSTM that the model has and does not apply.
  static void ignore(const Weights& weights, int64_t layers);

  /// input: [rows, hidden], the sequences one after the other. lengths: rows of each; a sequence
  /// may be empty. Returns [rows, hidden].
  at::Tensor operator()(const at::Tensor& input, const std::vector<int64_t>& lengths) const;

 private:
  at::Tensor run(const at::Tensor& sequence) const;

  int64_t layers_;
  int64_t direction_size_;
  std::vector<at::Tensor> parameters_;
};

}  // namespace backend::nn
