// Attention with kernels of the caller's choice: attend() takes the best, tests take each.
#pragma once

#include <cstdint>

#include "bfloat16_kernel.h"
#include "gemm/attention.h"
#include "gemm/split_linear.h"
#include "kernel.h"
#include "split_kernel.h"

namespace gemm {

/// See attend().
class Float32Attention {
 public:
  explicit Float32Attention(const Kernel& kernel) : kernel_(&kernel) {}

  int64_t scratch(int64_t tokens, int64_t head_size) const;
  void attend(const AttentionHead& head, float* scratch) const;

 private:
  const Kernel* kernel_;
};

/// What multiplies bfloat16 numbers.
struct BFloat16Numbers {
  const BFloat16Kernel* kernel;
};

/// What multiplies float32 numbers, each split into so many of bfloat16.
struct SplitNumbers {
  const SplitKernel* kernel;
  Parts parts;
};

/// The same with products of rounded numbers, one of the two above. `kernel` does all else; its
/// panels must be as wide as theirs.
template <class Numbers>
class RoundedAttention {
 public:
  RoundedAttention(const Kernel& kernel, const Numbers& numbers)
      : kernel_(&kernel), numbers_(numbers) {}

  int64_t scratch(int64_t tokens, int64_t head_size) const;
  void attend(const AttentionHead& head, float* scratch) const;

 private:
  const Kernel* kernel_;
  Numbers numbers_;
};

using BFloat16Attention = RoundedAttention<BFloat16Numbers>;
using SplitAttention = RoundedAttention<SplitNumbers>;

}  // namespace gemm
