// Linear layers whose weights are laid out once, as the processor reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gemm/aligned.h"

namespace gemm {

struct Kernel;

/// How a weight is stored. All of them are widened to float32 without loss as they are read.
enum class Storage { kFloat32, kFloat16, kBFloat16 };

/// What becomes of y before it is written.
enum class Activation { kNone, kGelu };

/// y = x Wᵀ + b in float32. W stays in the type it has, so that a layer stored in 16 bits needs
/// half the memory and half the traffic, with the same numbers. Any number of threads may multiply.
class PackedLinear {
 public:
  /// weight: [outputs, inputs], rows end to end. bias: [outputs], or null for none. Both are
  /// copied.
  PackedLinear(const void* weight, Storage storage, const float* bias, int64_t outputs,
               int64_t inputs);

  /// The same with a kernel of the caller's choice, for tests.
  PackedLinear(const Kernel& kernel, const void* weight, Storage storage, const float* bias,
               int64_t outputs, int64_t inputs);

  /// What there is to multiply, and where to.
  struct Operands {
    const float* x;    ///< [rows, inputs]
    int64_t rows;      ///< may be 0
    int64_t x_stride;  ///< floats from row to row
    float* y;          ///< [rows, number of outputs asked for]
    int64_t y_stride;
    Activation activation = Activation::kNone;
  };

  /// Outputs first_output … first_output + count - 1 alone.
  void multiply(const Operands& operands, int64_t first_output, int64_t count) const;

  int64_t inputs() const { return inputs_; }

  /// Outputs that are computed together: a share of the work should start at a multiple.
  int64_t panel_width() const;

  /// Of the instructions that multiply here: "avx512".
  static const char* kernel_name();

 private:
  const Kernel* kernel_;
  Storage storage_;
  int64_t inputs_;
  /// Panels of panel_width outputs, each [inputs, panel_width]; the last one filled up with zeros.
  AlignedArray<std::byte> panels_;
  std::vector<float> bias_;  ///< filled up in the same way
};

}  // namespace gemm
