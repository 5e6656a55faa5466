// Linear layers that multiply float32 as sums of bfloat16 numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gemm/aligned.h"
#include "gemm/packed_linear.h"

namespace gemm {

struct SplitKernel;

/// Of how many bfloat16 numbers a float32 is made: the first is the nearest to it, each other the
/// nearest to what is missing. Three have all bits of it; two lack what is below 2⁻¹⁸ of it. Of the
/// products of the parts those are left out that are too small to matter: of two parts 3 of 4 are
/// summed up, of three 6 of 9 (XLA's BF16_BF16_F32_X3 and _X6).
enum class Parts : uint8_t { kTwo = 2, kThree = 3 };

/// Rows of float32, split.
class SplitRows {
 public:
  /// x: [rows, inputs], x_stride floats from row to row.
  SplitRows(const float* x, int64_t rows, int64_t x_stride, int64_t inputs, Parts parts);

  /// The same with a kernel of the caller's choice, for tests.
  SplitRows(const SplitKernel& kernel, const float* x, int64_t rows, int64_t x_stride,
            int64_t inputs, Parts parts);

  int64_t rows() const { return rows_; }
  Parts parts() const { return parts_; }

  /// Of the first part, from this row on; the same of the others lie part_size() further each.
  /// Filled up with zeros to the kernel's stride, and the rows to its step.
  const uint16_t* values(int64_t row) const { return values_.get() + row * stride_; }
  int64_t stride() const { return stride_; }
  int64_t part_size() const { return part_size_; }

 private:
  int64_t rows_;
  Parts parts_;
  int64_t stride_;
  int64_t part_size_;
  AlignedArray<uint16_t> values_;
};

/// y = x Wᵀ + b, sums in float32. W stays in the type it has, so that it needs no more memory and
/// no more traffic than in PackedLinear; it is split as it is read, a panel at a time, into as many
/// parts as it has: no more than two of float16, one of bfloat16. A row has the same bits, whatever
/// rows and outputs are computed with it. An infinity, or what is beyond bfloat16's range, becomes
/// NaN.
class SplitLinear {
 public:
  /// weight: [outputs, inputs], rows end to end. bias: [outputs], or null for none. Both are
  /// copied.
  SplitLinear(const void* weight, Storage storage, const float* bias, int64_t outputs,
              int64_t inputs);

  /// The same with a kernel of the caller's choice, for tests.
  SplitLinear(const SplitKernel& kernel, const void* weight, Storage storage, const float* bias,
              int64_t outputs, int64_t inputs);

  /// Outputs first_output … first_output + count - 1 alone, into y: [rows, count], y_stride floats
  /// from row to row. Throws std::bad_alloc: a thread needs memory for a panel's parts.
  void multiply(const SplitRows& x, float* y, int64_t y_stride, Activation activation,
                int64_t first_output, int64_t count) const;

  int64_t panel_width() const;

  /// Whether this processor has instructions for it (AMX). Without, it is right, but slow.
  static bool is_fast();

  /// Of the kernel that multiplies here: "split amx".
  static const char* kernel_name();

  /// Why a faster kernel of this processor is not used, a line each; for the log.
  static const std::vector<std::string>& warnings();

 private:
  const SplitKernel* kernel_;
  Storage storage_;
  int64_t inputs_;
  AlignedArray<std::byte> panels_;  ///< as in PackedLinear
  std::vector<float> bias_;         ///< filled up to whole panels
};

}  // namespace gemm
