#include "gemm/bfloat16_linear.h"

#include <algorithm>

#include "bfloat16_kernel.h"
#include "kernel.h"
#include "tiling.h"

namespace gemm {
namespace {

const BFloat16Kernel* best_bfloat16_kernel() {
#if defined(__x86_64__)
  if (kBFloat16Avx512Kernel.is_supported()) return &kBFloat16Avx512Kernel;
#endif
  return nullptr;
}

int64_t filled_up(int64_t inputs) { return ceil_divide(inputs, kPair) * kPair; }

}  // namespace

BFloat16Rows::BFloat16Rows(const float* x, int64_t rows, int64_t x_stride, int64_t inputs)
    : rows_(rows),
      stride_(filled_up(inputs)),
      values_(std::make_unique_for_overwrite<uint16_t[]>(static_cast<size_t>(rows * stride_))) {
  const BFloat16Kernel* const kernel = best_bfloat16_kernel();
  for (int64_t i = 0; i < rows; ++i) {
    uint16_t* const values = values_.get() + i * stride_;
    kernel->round(x + i * x_stride, values, inputs);
    std::fill(values + inputs, values + stride_, uint16_t{0});
  }
}

bool BFloat16Linear::is_supported() { return best_bfloat16_kernel() != nullptr; }

int64_t BFloat16Linear::panel_width() const { return kernel_->panel_width; }

BFloat16Linear::BFloat16Linear(const float* weight, const float* bias, int64_t outputs,
                               int64_t inputs)
    : kernel_(best_bfloat16_kernel()), inputs_(inputs) {
  const int64_t width = panel_width();
  const int64_t panel_size = filled_up(inputs) * width;
  const int64_t panels = ceil_divide(outputs, width);
  panels_.resize(static_cast<size_t>(panels * panel_size));
  bias_.resize(static_cast<size_t>(panels * width));
  if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
  std::vector<uint16_t> row(static_cast<size_t>(inputs));
  for (int64_t output = 0; output < outputs; ++output) {
    kernel_->round(weight + output * inputs, row.data(), inputs);
    uint16_t* const panel = panels_.data() + output / width * panel_size;
    for (int64_t k = 0; k < inputs; ++k) {
      panel[(k / kPair * width + output % width) * kPair + k % kPair] = row[static_cast<size_t>(k)];
    }
  }
}

void BFloat16Linear::multiply(const BFloat16Rows& x, float* y, int64_t y_stride,
                              Activation activation, int64_t first_output, int64_t count) const {
  const int64_t width = panel_width();
  const int64_t inputs = filled_up(inputs_);
  constexpr auto kBytes = static_cast<int64_t>(sizeof(uint16_t));
  const int64_t panel_bytes = width * inputs * kBytes;
  const Product product{
      .rows = x.rows(),
      .row_bytes = inputs * kBytes,
      .tile_rows = kernel_->tile_rows,
      .panel_width = width,
      .first_output = first_output,
      .outputs = count,
      .y = y,
      .y_stride = y_stride,
      .activation = activation == Activation::kGelu ? best_kernel().gelu : nullptr};
  const auto compute = [&](const TilePlace& place) {
    const uint16_t* const panel = panels_.data() + place.panel * width * inputs;
    const Prefetch prefetch = next_panel(panel, panel_bytes, place, inputs / kPair);
    kernel_->tiles[place.rows - 1]({.a = x.values(place.row),
                                    .a_stride = inputs,
                                    .panel = panel,
                                    .inputs = inputs,
                                    .bias = bias_.data() + place.panel * width,
                                    .c = place.c,
                                    .c_stride = place.c_stride,
                                    .prefetch = prefetch.from,
                                    .prefetch_step = prefetch.step});
  };
  for_each_tile(product, compute);
}

}  // namespace gemm
