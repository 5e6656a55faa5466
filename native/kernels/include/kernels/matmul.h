// Matrix multiplication with packed weights: the linear layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/format.h"
#include "kernels/memory.h"

namespace kernels {

/// Type of a stored weight. It is converted to float32 without loss.
enum class Storage { kFloat32, kFloat16, kBFloat16 };

/// Operation on a product p before it is stored to y: y = p, y = activation(p), y += p, y *= p.
/// kGeluTanh: the approximation of GELU with tanh.
enum class Epilogue { kStore, kGelu, kGeluTanh, kSilu, kAdd, kMultiply };

struct StoredWeight {
  const void* values;  ///< [outputs, inputs], contiguous
  Storage storage;
  int64_t outputs, inputs;
};

/// A weight as a kernel reads it: panels of nr outputs. The last panel is zero-padded.
struct PackedWeight {
  PanelMemory panels;
  int64_t panel_bytes;
  // int8 only, for each output, zero-padded to whole panels. Designated initializers may omit them:
  // NOLINTBEGIN(readability-redundant-member-init)
  std::vector<float> scales{};
  std::vector<int32_t> sums{};  ///< sums of the weights, for the correction of zero points
  // NOLINTEND(readability-redundant-member-init)
};

/// A number format and the kernel that multiplies in it.
struct FormatKernel {
  /// The fastest kernel of this processor.
  FormatKernel(Format format);  // NOLINT(google-explicit-constructor)
  /// A kernel of the caller's choice, for tests.
  FormatKernel(const FormatDescription& description, const Kernel& with)
      : format(&description), kernel(&with) {}

  /// Itself, or float32 for a layer with more inputs than FormatDescription::max_inputs.
  FormatKernel for_inputs(int64_t inputs) const {
    return inputs > format->max_inputs ? FormatKernel(Format::kFloat32) : *this;
  }

  /// The kernel for attention, see Kernel::for_attention.
  FormatKernel for_attention() const;

  const FormatDescription* format;
  const Kernel* kernel;
};

/// x ≈ scale × (value − zero_point).
struct RowScale {
  float scale;
  int32_t zero_point;
};

/// Rows of the left operand in the format of a kernel. Each row is converted independently.
///   float32: x itself, which must outlive this object; or a copy with another stride, if the rows
///     of x would compete for the same sets of the cache
///   bfloat16: rounded to nearest
///   int8: 7-bit integers with a scale and a zero point for each row
class PackedA {
 public:
  /// x: [rows, inputs]; x_stride: row stride in floats.
  PackedA(const FormatKernel& by, const float* x, int64_t rows, int64_t x_stride, int64_t inputs)
      : PackedA(deferred(by, x, rows, x_stride, inputs)) {
    pack(0, rows);
  }

  /// Without packed rows: the caller must pack() all of them before a multiplication.
  static PackedA deferred(const FormatKernel& by, const float* x, int64_t rows, int64_t x_stride,
                          int64_t inputs) {
    return {by.for_inputs(inputs),
            {.values = x, .stride = x_stride, .rows = rows, .count = inputs}};
  }
  /// Packs `count` rows from `first` on. Several threads may pack different rows.
  void pack(int64_t first, int64_t count);
  /// False: x itself is multiplied, and pack() does nothing.
  bool needs_packing() const { return memory_ != nullptr; }

  int64_t rows() const { return x_.rows; }

  /// Start of a row. Rows are zero-padded to the stride.
  const void* values(int64_t row) const {
    return static_cast<const std::byte*>(first_) + row * stride_ * value_bytes_;
  }
  /// Row stride in values.
  int64_t stride() const { return stride_; }
  /// Scales from a row on; null except for int8.
  const RowScale* scales(int64_t row) const {
    return scales_.empty() ? nullptr : scales_.data() + row;
  }

 private:
  struct Floats {
    const float* values;
    int64_t stride, rows, count;
  };
  PackedA(const FormatKernel& by, const Floats& x);

  const Kernel* kernel_;
  Floats x_;
  int64_t value_bytes_;
  int64_t stride_;
  AlignedArray<std::byte> memory_;
  const void* first_;
  std::vector<RowScale> scales_;
};

/// A linear layer: y = x Wᵀ + b. Thread-safe. The bits of an output row do not depend on the other
/// rows and outputs that are computed with it.
///   float32: W keeps its stored type, so a layer stored in 16 bits needs half of the memory and
///     bandwidth, with the same results
///   bfloat16: W is rounded to nearest
///   int8: integers of 8 bits at most with a scale for each output. Sums are exact, so results are
///     equal on all processors. A layer whose sums could overflow uses float32
class Linear {
 public:
  /// bias: [outputs], or null. Weight and bias are copied.
  Linear(const FormatKernel& by, const StoredWeight& weight, const float* bias);

  /// Outputs to compute, and the epilogue.
  struct OutputRange {
    int64_t first, count;
    Epilogue epilogue = Epilogue::kStore;
  };

  /// Packs x: [rows, inputs]; x_stride: row stride in floats.
  PackedA pack_a(const float* x, int64_t rows, int64_t x_stride) const {
    return {by_, x, rows, x_stride, inputs_};
  }
  /// See PackedA::deferred().
  PackedA deferred_a(const float* x, int64_t rows, int64_t x_stride) const {
    return PackedA::deferred(by_, x, rows, x_stride, inputs_);
  }

  /// Computes y: [rows, range.count]; y_stride: row stride in floats.
  void multiply(const PackedA& x, const OutputRange& range, float* y, int64_t y_stride) const;

  int64_t inputs() const { return inputs_; }

  /// Outputs per panel. Parts of a parallel multiplication should start at a multiple.
  int64_t nr() const;

 private:
  struct Product;
  struct Columns;
  void multiply_panel(const Product& product, int64_t panel, int64_t row, int64_t rows) const;
  static void store_columns(const Product& product, const Columns& columns, float* to);

  FormatKernel by_;
  Storage storage_;
  int64_t inputs_;
  PackedWeight weight_;
  std::vector<float> bias_;  ///< zero-padded to whole panels
};

}  // namespace kernels
