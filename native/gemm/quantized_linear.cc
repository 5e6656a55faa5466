#include "gemm/quantized_linear.h"

#include <algorithm>
#include <cmath>

#include "choice.h"
#include "gemm/processor.h"
#include "int8_kernel.h"
#include "kernel.h"
#include "tiling.h"

namespace gemm {
namespace {

const Choice<Int8Kernel>& chosen() {
  static const Choice<Int8Kernel> choice = choose<Int8Kernel>(
      {
#if defined(__x86_64__)
          &kInt8AmxKernel, &kInt8Avx512Kernel, &kInt8Avx2Kernel
#endif
      },
      kPortableInt8Kernel, this_processor().usable);
  return choice;
}

/// With which no weight is too large, nor are those together that meet in a lane of 16 bits. NaN
/// where a weight is not finite.
float scale_of(const float* weights, int64_t inputs) {
  float most = kLeastScale * kMostWeight;
  float most_in_lane = 0;
  float not_finite = 0;
  for (int64_t first = 0; first < inputs; first += kInputsTogether) {
    float lanes[kLanesOfGroup] = {};
    for (int64_t k = first; k < std::min(first + kInputsTogether, inputs); ++k) {
      const float size = std::abs(weights[k]);
      most = std::max(most, size);
      not_finite += size * 0;
      lanes[k % kGroup * kLanesOfGroup / kGroup] += size;
    }
    most_in_lane = std::max({most_in_lane, lanes[0], lanes[1]});
  }
  // Rounding adds a half at most to each.
  constexpr int kRounding = kInputsTogether / kLanesOfGroup / 2;
  return std::max(most / kMostWeight, most_in_lane / (kMostInLane - kRounding)) + not_finite;
}

}  // namespace

const Int8Kernel& best_int8_kernel() { return *chosen().kernel; }

QuantizedRows::QuantizedRows(const float* x, int64_t rows, int64_t x_stride, int64_t inputs)
    : QuantizedRows(best_int8_kernel(), x, rows, x_stride, inputs) {}

QuantizedRows::QuantizedRows(const Int8Kernel& kernel, const float* x, int64_t rows,
                             int64_t x_stride, int64_t inputs)
    : stride_(row_stride(inputs, kernel.inputs_together, kernel.row_step)),
      values_(
          make_aligned<uint8_t>(static_cast<size_t>(filled_up(rows, kernel.row_step) * stride_))),
      scales_(static_cast<size_t>(rows)) {
  for (int64_t i = 0; i < rows; ++i) {
    uint8_t* const values = values_.get() + i * stride_;
    scales_[static_cast<size_t>(i)] = kernel.quantize(x + i * x_stride, values, inputs);
    std::fill(values + inputs, values + stride_, uint8_t{0});
  }
  std::fill(values_.get() + rows * stride_,
            values_.get() + filled_up(rows, kernel.row_step) * stride_, uint8_t{0});
}

bool QuantizedLinear::is_fast() { return chosen().kernel != &kPortableInt8Kernel; }

const char* QuantizedLinear::kernel_name() { return chosen().kernel->name; }

const std::vector<std::string>& QuantizedLinear::warnings() { return chosen().warnings; }

int64_t QuantizedLinear::panel_width() const { return kernel_->panel_width; }

QuantizedLinear::QuantizedLinear(const float* weight, const float* bias, int64_t outputs,
                                 int64_t inputs)
    : QuantizedLinear(best_int8_kernel(), weight, bias, outputs, inputs) {}

QuantizedLinear::QuantizedLinear(const Int8Kernel& kernel, const float* weight, const float* bias,
                                 int64_t outputs, int64_t inputs)
    : kernel_(&kernel), inputs_(inputs) {
  const int64_t width = panel_width();
  const int64_t panel_bytes = filled_up(inputs, kernel.inputs_together) * width;
  const auto padded = static_cast<size_t>(ceil_divide(outputs, width) * width);
  const size_t size = padded * static_cast<size_t>(filled_up(inputs, kernel.inputs_together));
  panels_ = make_aligned<int8_t>(size);
  std::fill_n(panels_.get(), size, int8_t{0});
  scales_.resize(padded);
  sums_.resize(padded);
  bias_.resize(padded);
  if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
  for (int64_t output = 0; output < outputs; ++output) {
    const float* row = weight + output * inputs;
    const float scale = scale_of(row, inputs);
    int8_t* panel = panels_.get() + output / width * panel_bytes;
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
  const int64_t inputs = filled_up(inputs_, kernel_->inputs_together);
  const Product product{.rows = x.rows(),
                        .row_bytes = inputs,
                        .tile_rows = kernel_->tile_rows,
                        .row_step = kernel_->row_step,
                        .panel_width = width,
                        .first_output = first_output,
                        .outputs = count,
                        .y = y,
                        .y_stride = y_stride,
                        .activation = activation == Activation::kGelu ? best_gelu(width) : nullptr};
  const auto compute = [&](const TilePlace& place) {
    const int8_t* const panel = panels_.get() + place.panel * width * inputs;
    const Prefetch prefetch =
        next_panel(panel, width * inputs, place, inputs / kernel_->inputs_a_step);
    kernel_->tiles[place.rows - 1]({.a = x.values(place.row),
                                    .a_stride = x.stride(),
                                    .row_scales = x.scales(place.row),
                                    .panel = panel,
                                    .inputs = inputs,
                                    .scales = scales_.data() + place.panel * width,
                                    .weight_sums = sums_.data() + place.panel * width,
                                    .bias = bias_.data() + place.panel * width,
                                    .c = place.c,
                                    .c_stride = place.c_stride,
                                    .rows = place.rows,
                                    .prefetch = prefetch.from,
                                    .prefetch_step = prefetch.step});
  };
  for_each_tile(*kernel_, product, compute);
}

}  // namespace gemm
