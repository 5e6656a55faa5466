// Attention with given kernels: attend() uses the fastest, tests use each.
#pragma once

#include "elementwise/elementwise.h"
#include "kernels/attention.h"
#include "matmul/kernel.h"

namespace kernels {

/// Attention with one matrix multiplication kernel and one set of elementwise functions. Their
/// panels must have the same width nr.
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

/// The fastest kernels for heads with more than a few queries.
HeadAttention best_attention(Format format);

}  // namespace kernels
