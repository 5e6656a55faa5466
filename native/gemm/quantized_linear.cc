#include "gemm/quantized_linear.h"

#include <algorithm>
#include <cmath>

#include "int8_kernel.h"
#include "kernel.h"
#include "tiling.h"

namespace gemm {
namespace {

constexpr int32_t kMostWeight = 63;
constexpr int32_t kMostValue = 255;

/// Loops that the compiler makes for each kind of processor, to be chosen from on the machine.
#if defined(__x86_64__)
#define GEMM_FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GEMM_FOR_EACH_PROCESSOR
#endif

const Int8Kernel* best_int8_kernel() {
#if defined(__x86_64__)
  for (const Int8Kernel* kernel : {&kInt8Avx512Kernel, &kInt8Avx2Kernel}) {
    if (kernel->is_supported()) return kernel;
  }
#endif
  return nullptr;
}

struct Range {
  float lowest, highest;
};

/// Of 0 and the values; NaN when one of them is not finite, so that the row's results are too.
GEMM_FOR_EACH_PROCESSOR Range range_of(const float* values, int64_t count) {
  constexpr int kLanes = 16;
  float lowest[kLanes] = {};
  float highest[kLanes] = {};
  float poison[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const float value = values[i + lane];
      lowest[lane] = value < lowest[lane] ? value : lowest[lane];
      highest[lane] = value > highest[lane] ? value : highest[lane];
      poison[lane] += value * 0;
    }
  }
  for (; i < count; ++i) {
    lowest[0] = values[i] < lowest[0] ? values[i] : lowest[0];
    highest[0] = values[i] > highest[0] ? values[i] : highest[0];
    poison[0] += values[i] * 0;
  }
  for (int lane = 1; lane < kLanes; ++lane) {
    lowest[0] = lowest[lane] < lowest[0] ? lowest[lane] : lowest[0];
    highest[0] = highest[lane] > highest[0] ? highest[lane] : highest[0];
    poison[0] += poison[lane];
  }
  return {lowest[0] + poison[0], highest[0] + poison[0]};
}

/// offset: the zero point and a half. The half is added and the rest cut off: what is rounded is
/// never negative. A value that is no number becomes 0.
GEMM_FOR_EACH_PROCESSOR void quantize(const float* from, uint8_t* to, int64_t count, float inverse,
                                      float offset) {
  for (int64_t i = 0; i < count; ++i) {
    float value = from[i] * inverse + offset;
    value = value > 0 ? value : 0;
    value = value < kMostValue ? value : kMostValue;
    to[i] = static_cast<uint8_t>(static_cast<int32_t>(value));
  }
}

/// One row of sums, as float32.
GEMM_FOR_EACH_PROCESSOR void widen(const int32_t* sums, const QuantizedRows::Row& row,
                                   const float* scales, const int32_t* weight_sums,
                                   const float* bias, float* results, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int32_t sum = sums[i] - row.zero_point * weight_sums[i];
    results[i] = static_cast<float>(sum) * (row.scale * scales[i]) + bias[i];
  }
}

}  // namespace

QuantizedRows::QuantizedRows(const float* x, int64_t rows, int64_t x_stride, int64_t inputs)
    : stride_(ceil_divide(inputs, kGroup) * kGroup),
      values_(static_cast<size_t>(rows * stride_)),
      scales_(static_cast<size_t>(rows)),
      zero_points_(static_cast<size_t>(rows)) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* row = x + i * x_stride;
    const auto [lowest, highest] = range_of(row, inputs);
    const float scale = (highest - lowest) / kMostValue;
    const float inverse = scale > 0 ? 1 / scale : 0;
    const float zero_point = scale > 0 ? std::nearbyint(-lowest * inverse) : 0;
    quantize(row, values_.data() + i * stride_, inputs, inverse, zero_point + 0.5F);
    scales_[static_cast<size_t>(i)] = scale;
    zero_points_[static_cast<size_t>(i)] = static_cast<int32_t>(zero_point);
  }
}

QuantizedRows::Row QuantizedRows::row(int64_t index) const {
  const auto i = static_cast<size_t>(index);
  return {.values = values_.data() + index * stride_,
          .scale = scales_[i],
          .zero_point = zero_points_[i]};
}

bool QuantizedLinear::is_supported() { return best_int8_kernel() != nullptr; }

int64_t QuantizedLinear::panel_width() const { return kernel_->panel_width; }

QuantizedLinear::QuantizedLinear(const float* weight, const float* bias, int64_t outputs,
                                 int64_t inputs)
    : kernel_(best_int8_kernel()), inputs_(inputs) {
  const int64_t width = panel_width();
  const int64_t groups = ceil_divide(inputs, kGroup);
  const auto padded = static_cast<size_t>(ceil_divide(outputs, width) * width);
  panels_.resize(padded * static_cast<size_t>(groups * kGroup));
  scales_.resize(padded);
  sums_.resize(padded);
  bias_.resize(padded);
  if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
  for (int64_t output = 0; output < outputs; ++output) {
    const float* row = weight + output * inputs;
    float most = 0;
    for (int64_t k = 0; k < inputs; ++k) most = std::max(most, std::abs(row[k]));
    const float scale = most / kMostWeight;
    int8_t* panel = panels_.data() + output / width * width * groups * kGroup;
    int32_t sum = 0;
    for (int64_t k = 0; k < inputs; ++k) {
      const auto value = static_cast<int32_t>(std::nearbyint(scale > 0 ? row[k] / scale : 0));
      panel[(k / kGroup * width + output % width) * kGroup + k % kGroup] =
          static_cast<int8_t>(value);
      sum += value;
    }
    scales_[static_cast<size_t>(output)] = scale;
    sums_[static_cast<size_t>(output)] = sum;
  }
}

void QuantizedLinear::multiply(const QuantizedRows& x, float* y, int64_t y_stride,
                               Activation activation, int64_t first_output, int64_t count) const {
  const int64_t width = panel_width();
  const int64_t end = first_output + count;
  for (int64_t start = first_output / width * width; start < end; start += width) {
    const int64_t from = std::max(first_output, start);
    const int64_t to = std::min(end, start + width);
    float results[kMostTileRows * kWidestPanel];
    int64_t rows = 0;
    for (int64_t row = 0; row < x.rows(); row += rows) {
      const int64_t left = x.rows() - row;
      rows = ceil_divide(left, ceil_divide(left, kernel_->tile_rows));
      compute_tile(x, row, rows, start, results);
      if (activation == Activation::kGelu) best_kernel().gelu(results, rows, width);
      for (int64_t i = 0; i < rows; ++i) {
        std::copy(results + i * width + (from - start), results + i * width + (to - start),
                  y + (row + i) * y_stride + (from - first_output));
      }
    }
  }
}

/// Outputs first … first + panel_width - 1 of some rows, end to end.
void QuantizedLinear::compute_tile(const QuantizedRows& x, int64_t row, int64_t rows, int64_t first,
                                   float* results) const {
  const int64_t width = panel_width();
  const int64_t groups = ceil_divide(inputs_, kGroup);
  int32_t sums[kMostTileRows * kWidestPanel];
  kernel_->tiles[rows - 1]({.a = x.row(row).values,
                            .a_stride = groups * kGroup,
                            .panel = panels_.data() + first * groups * kGroup,
                            .groups = groups,
                            .c = sums});
  for (int64_t i = 0; i < rows; ++i) {
    widen(sums + i * width, x.row(row + i), scales_.data() + first, sums_.data() + first,
          bias_.data() + first, results + i * width, width);
  }
}

}  // namespace gemm
