// Linear layers whose weights are kept in 8-bit integers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gemm/aligned.h"
#include "gemm/packed_linear.h"

namespace gemm {

struct Int8Kernel;

/// x ≈ scale × (value − zero_point).
struct RowScale {
  float scale;
  int32_t zero_point;
};

/// Rows of float32 as whole numbers of 7 bits, with a scale and a zero point of each row's own, so
/// that no row's accuracy depends on its neighbours in the batch.
class QuantizedRows {
 public:
  /// x: [rows, inputs], x_stride floats from row to row.
  QuantizedRows(const float* x, int64_t rows, int64_t x_stride, int64_t inputs);

  /// The same with a kernel of the caller's choice, for tests.
  QuantizedRows(const Int8Kernel& kernel, const float* x, int64_t rows, int64_t x_stride,
                int64_t inputs);

  int64_t rows() const { return static_cast<int64_t>(scales_.size()); }

  /// From this row on: the values, filled up with zeros to the kernel's stride, and the rows to its
  /// step; and the scales.
  const uint8_t* values(int64_t row) const { return values_.get() + row * stride_; }
  int64_t stride() const { return stride_; }
  const RowScale* scales(int64_t row) const { return scales_.data() + row; }

 private:
  int64_t stride_;
  AlignedArray<uint8_t> values_;
  std::vector<RowScale> scales_;
};

/// y = x Wᵀ + b with W in at most 8 bits and a scale for each output, sums in integers: exact, so
/// the same on every processor.
class QuantizedLinear {
 public:
  /// weight: [outputs, inputs]. bias: [outputs], or null for none.
  QuantizedLinear(const float* weight, const float* bias, int64_t outputs, int64_t inputs);

  /// The same with a kernel of the caller's choice, for tests.
  QuantizedLinear(const Int8Kernel& kernel, const float* weight, const float* bias, int64_t outputs,
                  int64_t inputs);

  /// Outputs first_output … first_output + count - 1 alone, into y: [rows, count], y_stride floats
  /// from row to row.
  void multiply(const QuantizedRows& x, float* y, int64_t y_stride, Activation activation,
                int64_t first_output, int64_t count) const;

  int64_t panel_width() const;

  /// Whether this processor has instructions for it. Without, it is right, but slow.
  static bool is_fast();

  /// Of the kernel that multiplies here: "int8 amx".
  static const char* kernel_name();

  /// Why a faster kernel of this processor is not used, a line each; for the log.
  static const std::vector<std::string>& warnings();

 private:
  const Int8Kernel* kernel_;
  int64_t inputs_;
  AlignedArray<int8_t> panels_;  ///< [panels, inputs / 4, panel_width, 4], inputs and
                                 ///< outputs filled up with zeros
  // Of each output, filled up to whole panels:
  std::vector<float> scales_;
  std::vector<int32_t> sums_;  ///< of the weights, for the zero points
  std::vector<float> bias_;
};

}  // namespace gemm
