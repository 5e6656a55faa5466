// Linear layers whose weights are laid out once, as the processor reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/format.h"
#include "kernels/panel_memory.h"

namespace kernels {

/// How a weight is stored. All of them are widened to float32 without loss.
enum class Storage { kFloat32, kFloat16, kBFloat16 };

/// What y becomes: the product, GELU of it, y + the product, y × the product.
enum class Epilogue { kStore, kGelu, kAdd, kMultiply };

struct StoredWeight {
  const void* values;  ///< [outputs, inputs], rows end to end
  Storage storage;
  int64_t outputs, inputs;
};

/// A weight as a format multiplies it: panels of so many outputs as a kernel has, the last one
/// filled up with zeros.
struct PackedWeight {
  PanelMemory panels;
  int64_t panel_bytes;
  // Of int8, for each output, filled up to whole panels. They may be left out without a warning:
  // NOLINTBEGIN(readability-redundant-member-init)
  std::vector<float> scales{};
  std::vector<int32_t> sums{};  ///< of the weights, for the zero points
  // NOLINTEND(readability-redundant-member-init)
};

/// A format, and what multiplies it.
struct FormatKernel {
  /// The best kernel of this processor.
  FormatKernel(Format format);  // NOLINT(google-explicit-constructor)
  /// One of the caller's choice, for tests.
  FormatKernel(const FormatDescription& description, const Kernel& with)
      : format(&description), kernel(&with) {}

  /// Itself, or float32 for a layer with more inputs than FormatDescription::max_inputs.
  FormatKernel for_inputs(int64_t inputs) const {
    return inputs > format->max_inputs ? FormatKernel(Format::kFloat32) : *this;
  }

  const FormatDescription* format;
  const Kernel* kernel;
};

/// x ≈ scale × (value − zero_point).
struct RowScale {
  float scale;
  int32_t zero_point;
};

/// Rows of x as a format multiplies them, each by itself: no row depends on its neighbours. Made
/// once for all parts of the outputs, by one thread or by several.
///   float32: x itself, which has to be there as long as they are; or a copy, where its rows share
///     sets of the cache
///   bfloat16: rounded to the nearest
///   int8: whole numbers of 7 bits, with a scale and a zero point of each row's own
class Rows {
 public:
  /// x: [rows, inputs], x_stride floats from row to row.
  Rows(const FormatKernel& by, const float* x, int64_t rows, int64_t x_stride, int64_t inputs)
      : Rows(unmade(by, x, rows, x_stride, inputs)) {
    make(0, rows);
  }

  /// The same, of which the caller has to make all rows before they are multiplied.
  static Rows unmade(const FormatKernel& by, const float* x, int64_t rows, int64_t x_stride,
                     int64_t inputs) {
    return {by.for_inputs(inputs),
            {.values = x, .stride = x_stride, .rows = rows, .count = inputs}};
  }
  /// So many, from the first on. Several threads may make different ones.
  void make(int64_t first, int64_t count);
  /// Else x itself is multiplied.
  bool needs_making() const { return memory_ != nullptr; }

  int64_t rows() const { return x_.rows; }

  /// From this row on. Each is filled up with zeros to the stride.
  const void* values(int64_t row) const {
    return static_cast<const std::byte*>(first_) + row * stride_ * value_bytes_;
  }
  int64_t stride() const { return stride_; }
  /// Of int8; else null.
  const RowScale* scales(int64_t row) const {
    return scales_.empty() ? nullptr : scales_.data() + row;
  }

 private:
  struct Floats {
    const float* values;
    int64_t stride, rows, count;
  };
  Rows(const FormatKernel& by, const Floats& x);

  const Kernel* kernel_;
  Floats x_;
  int64_t value_bytes_;
  int64_t stride_;  ///< numbers from row to row
  AlignedArray<std::byte> memory_;
  const void* first_;
  std::vector<RowScale> scales_;
};

/// y = x Wᵀ + b. Any number of threads may multiply. A row has the same bits, whatever rows and
/// outputs are computed with it.
///   float32: W stays in the type it has, so that a layer stored in 16 bits needs half the memory
///     and half the traffic, with the same numbers
///   bfloat16: rounded
///   int8: at most 8 bits, and a scale for each output. Sums are exact, so the same everywhere. A
///     layer of so many inputs that a sum could overflow is multiplied in float32
class Linear {
 public:
  /// bias: [outputs], or null for none. Both are copied.
  Linear(const FormatKernel& by, const StoredWeight& weight, const float* bias);

  /// Of which outputs; and what becomes of them.
  struct OutputRange {
    int64_t first, count;
    Epilogue epilogue = Epilogue::kStore;
  };

  /// x: [rows, inputs], x_stride floats from row to row.
  Rows rows(const float* x, int64_t count, int64_t x_stride) const {
    return {by_, x, count, x_stride, inputs_};
  }
  Rows unmade_rows(const float* x, int64_t count, int64_t x_stride) const {
    return Rows::unmade(by_, x, count, x_stride, inputs_);
  }

  /// Into y: [rows, range.count], y_stride floats from row to row.
  void multiply(const Rows& x, const OutputRange& range, float* y, int64_t y_stride) const;

  int64_t inputs() const { return inputs_; }

  /// Outputs that are computed together: a share of the work should start at a multiple.
  int64_t panel_width() const;

 private:
  struct Product;
  struct Columns;
  void multiply_panel(const Product& product, int64_t panel, int64_t row, int64_t rows) const;
  static void store_columns(const Product& product, const Columns& columns, float* to);

  FormatKernel by_;
  Storage storage_;
  int64_t inputs_;
  PackedWeight weight_;
  std::vector<float> bias_;  ///< filled up to whole panels
};

}  // namespace kernels
