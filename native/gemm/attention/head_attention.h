// Attention with kernels of the caller's choice: attend() takes the best, tests take each.
#pragma once

#include "elementwise/elementwise.h"
#include "format/kernel.h"
#include "gemm/attention.h"

namespace gemm {

/// See attend(). `elementwise` does all but the products; its panels, of two vectors, must be as
/// wide as theirs.
class HeadAttention {
 public:
  HeadAttention(const Elementwise& elementwise, const FormatKernel& by)
      : elementwise_(&elementwise), by_(by) {}

  int64_t scratch(int64_t tokens, int64_t head_size) const;
  void attend(const AttentionHead& head, float* scratch) const;

 private:
  const Elementwise* elementwise_;
  FormatKernel by_;
};

}  // namespace gemm
