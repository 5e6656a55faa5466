// Attention with kernels of the caller's choice: attend() takes the best, tests take each.
#pragma once

#include "elementwise/elementwise.h"
#include "format/kernel.h"
#include "kernels/attention.h"

namespace kernels {

/// See attend(). `elementwise` does all but the products; its panels, of two vectors, must be as
/// wide as theirs.
class HeadAttention {
 public:
  HeadAttention(const Elementwise& elementwise, const FormatKernel& by)
      : elementwise_(&elementwise), by_(by) {}

  int64_t scratch(const AttentionHead& longest) const;
  PackedPositions pack(const PositionVectors& vectors) const;
  void attend(const AttentionHead& head, float* scratch) const;
  const FormatKernel& by() const { return by_; }

 private:
  const Elementwise* elementwise_;
  FormatKernel by_;
};

/// What attend() takes for heads of more than a few queries.
HeadAttention best_attention(Format format);

}  // namespace kernels
