// Linear layers that multiply in bfloat16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gemm/aligned.h"
#include "gemm/packed_linear.h"

namespace gemm {

struct BFloat16Kernel;

/// Rows of float32 rounded to bfloat16.
class BFloat16Rows {
 public:
  /// x: [rows, inputs], x_stride floats from row to row.
  BFloat16Rows(const float* x, int64_t rows, int64_t x_stride, int64_t inputs);

  /// The same with a kernel of the caller's choice, for tests.
  BFloat16Rows(const BFloat16Kernel& kernel, const float* x, int64_t rows, int64_t x_stride,
               int64_t inputs);

  int64_t rows() const { return rows_; }

  /// From this row on, each filled up with zeros to the kernel's stride, and the rows themselves to
  /// its step.
  const uint16_t* values(int64_t row) const { return values_.get() + row * stride_; }
  int64_t stride() const { return stride_; }

 private:
  int64_t rows_;
  int64_t stride_;
  AlignedArray<uint16_t> values_;
};

/// y = x Wᵀ + b with x and W in bfloat16, sums, bias and y in float32.
class BFloat16Linear {
 public:
  /// weight: [outputs, inputs]. bias: [outputs], or null for none.
  BFloat16Linear(const float* weight, const float* bias, int64_t outputs, int64_t inputs);

  /// The same with a kernel of the caller's choice, for tests.
  BFloat16Linear(const BFloat16Kernel& kernel, const float* weight, const float* bias,
                 int64_t outputs, int64_t inputs);

  /// Outputs first_output … first_output + count - 1 alone, into y: [rows, count], y_stride floats
  /// from row to row.
  void multiply(const BFloat16Rows& x, float* y, int64_t y_stride, Activation activation,
                int64_t first_output, int64_t count) const;

  int64_t panel_width() const;

  /// Whether this processor has instructions for it (AMX, AVX512-BF16). Without, it is right, but
  /// slow.
  static bool is_fast();

  /// Of the kernel that multiplies here: "bfloat16 amx".
  static const char* kernel_name();

  /// Why a faster kernel of this processor is not used, a line each; for the log.
  static const std::vector<std::string>& warnings();

 private:
  const BFloat16Kernel* kernel_;
  int64_t inputs_;
  AlignedArray<uint16_t> panels_;  ///< [panels, inputs / 2, panel_width, 2], inputs and outputs
                                   ///< filled up with zeros
  std::vector<float> bias_;        ///< filled up to whole panels
};

}  // namespace gemm
