#pragma once

#include <ATen/core/Tensor.h>

#include "checkpoint/weights.h"
#include "encoder/nn/linear.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// Gated depthwise convolution over a few neighboring tokens of the same sequence:
/// output(C × convolution(B × x)), where B, C and x are the outputs of one linear layer. Tokens
/// outside the sequence count as 0.
/// Keys: in_proj [3 × hidden, hidden], conv.weight [hidden, 1, length], out_proj [hidden, hidden],
/// and biases.
/// Source: transformers, models/lfm2/modeling_lfm2.py (Lfm2ShortConv).
class ShortConvolution {
 public:
  /// tokens_before: the first of the `length` tokens precedes its output by this many.
  ShortConvolution(const Weights& weights, int64_t hidden, int64_t length, int64_t tokens_before,
                   Bias bias);

  /// y + the result, written to y. [tokens, hidden]
  at::Tensor add_to(at::Tensor y, const at::Tensor& input, const PackedBatch& batch) const;

 private:
  /// Computes the rows of one part of a sequence. inputs: B × x; gates: C; row strides in floats.
  struct Rows;
  void convolve(const Rows& rows) const;

  int64_t hidden_, tokens_before_;
  Linear input_;
  at::Tensor kernel_;  ///< [length, hidden]
  at::Tensor bias_;    ///< [hidden]; undefined: none
  Linear output_;
};

}  // namespace backend::nn
