#include "gemm/bfloat16_linear.h"

#include <algorithm>

#include "bfloat16_kernel.h"
#include "choice.h"
#include "gemm/processor.h"
#include "kernel.h"
#include "tiling.h"

namespace gemm {
namespace {

const Choice<BFloat16Kernel>& chosen() {
  static const Choice<BFloat16Kernel> choice = choose<BFloat16Kernel>(
      {
#if defined(__x86_64__)
          &kBFloat16AmxKernel, &kBFloat16Avx512Kernel
#endif
      },
      kPortableBFloat16Kernel, this_processor().usable);
  return choice;
}

}  // namespace

const BFloat16Kernel& best_bfloat16_kernel() { return *chosen().kernel; }

BFloat16Rows::BFloat16Rows(const float* x, int64_t rows, int64_t x_stride, int64_t inputs)
    : BFloat16Rows(best_bfloat16_kernel(), x, rows, x_stride, inputs) {}

BFloat16Rows::BFloat16Rows(const BFloat16Kernel& kernel, const float* x, int64_t rows,
                           int64_t x_stride, int64_t inputs)
    : rows_(rows),
      stride_(row_stride(inputs, kernel.inputs_together, kernel.row_step)),
      values_(
          make_aligned<uint16_t>(static_cast<size_t>(filled_up(rows, kernel.row_step) * stride_))) {
  for (int64_t i = 0; i < rows; ++i) {
    uint16_t* const values = values_.get() + i * stride_;
    kernel.round(x + i * x_stride, values, inputs);
    std::fill(values + inputs, values + stride_, uint16_t{0});
  }
  std::fill(values_.get() + rows * stride_,
            values_.get() + filled_up(rows, kernel.row_step) * stride_, uint16_t{0});
}

bool BFloat16Linear::is_fast() { return chosen().kernel != &kPortableBFloat16Kernel; }

const char* BFloat16Linear::kernel_name() { return chosen().kernel->name; }

const std::vector<std::string>& BFloat16Linear::warnings() { return chosen().warnings; }

int64_t BFloat16Linear::panel_width() const { return kernel_->panel_width; }

BFloat16Linear::BFloat16Linear(const float* weight, const float* bias, int64_t outputs,
                               int64_t inputs)
    : BFloat16Linear(best_bfloat16_kernel(), weight, bias, outputs, inputs) {}

BFloat16Linear::BFloat16Linear(const BFloat16Kernel& kernel, const float* weight, const float* bias,
                               int64_t outputs, int64_t inputs)
    : kernel_(&kernel), inputs_(inputs) {
  const int64_t width = panel_width();
  const int64_t panel_size = filled_up(inputs, kernel.inputs_together) * width;
  const int64_t panels = ceil_divide(outputs, width);
  const auto size = static_cast<size_t>(panels * panel_size);
  panels_ = make_aligned<uint16_t>(size);
  std::fill_n(panels_.get(), size, uint16_t{0});
  bias_.resize(static_cast<size_t>(panels * width));
  if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
  std::vector<uint16_t> row(static_cast<size_t>(inputs));
  for (int64_t output = 0; output < outputs; ++output) {
    // The portable one: instructions count what is subnormal as 0 before they round.
    kPortableBFloat16Kernel.round(weight + output * inputs, row.data(), inputs);
    uint16_t* const panel = panels_.get() + output / width * panel_size;
    for (int64_t k = 0; k < inputs; ++k) {
      panel[(k / kPair * width + output % width) * kPair + k % kPair] = row[static_cast<size_t>(k)];
    }
  }
}

void BFloat16Linear::multiply(const BFloat16Rows& x, float* y, int64_t y_stride,
                              Activation activation, int64_t first_output, int64_t count) const {
  const int64_t width = panel_width();
  const int64_t inputs = filled_up(inputs_, kernel_->inputs_together);
  constexpr auto kBytes = static_cast<int64_t>(sizeof(uint16_t));
  const int64_t panel_bytes = width * inputs * kBytes;
  const Product product{.rows = x.rows(),
                        .row_bytes = inputs * kBytes,
                        .tile_rows = kernel_->tile_rows,
                        .row_step = kernel_->row_step,
                        .panel_width = width,
                        .first_output = first_output,
                        .outputs = count,
                        .y = y,
                        .y_stride = y_stride,
                        .activation = activation == Activation::kGelu ? best_gelu(width) : nullptr};
  const auto compute = [&](const TilePlace& place) {
    const uint16_t* const panel = panels_.get() + place.panel * width * inputs;
    const Prefetch prefetch =
        next_panel(panel, panel_bytes, place, inputs / kernel_->inputs_together);
    kernel_->tiles[place.rows - 1]({.a = x.values(place.row),
                                    .a_stride = x.stride(),
                                    .panel = panel,
                                    .inputs = inputs,
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
