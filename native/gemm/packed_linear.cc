#include "gemm/packed_linear.h"

#include <algorithm>

#include "panels.h"
#include "tiling.h"

namespace gemm {
PackedLinear::PackedLinear(const void* weight, Storage storage, const float* bias, int64_t outputs,
                           int64_t inputs)
    : PackedLinear(best_kernel(), weight, storage, bias, outputs, inputs) {}

PackedLinear::PackedLinear(const Kernel& kernel, const void* weight, Storage storage,
                           const float* bias, int64_t outputs, int64_t inputs)
    : kernel_(&kernel), storage_(storage), inputs_(inputs) {
  bias_.resize(static_cast<size_t>(ceil_divide(outputs, panel_width()) * panel_width()));
  if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
  panels_ = pack_panels({weight, storage, outputs, inputs}, panel_width());
}

int64_t PackedLinear::panel_width() const { return kernel_->panel_width; }

void PackedLinear::multiply(const Operands& operands, int64_t first_output, int64_t count) const {
  const int64_t panel_bytes = panel_width() * inputs_ * bytes_of(storage_);
  const Product product{
      .rows = operands.rows,
      .row_bytes = inputs_ * static_cast<int64_t>(sizeof(float)),
      .tile_rows = kernel_->tile_rows,
      .row_step = 1,
      .panel_width = panel_width(),
      .first_output = first_output,
      .outputs = count,
      .y = operands.y,
      .y_stride = operands.y_stride,
      .activation = operands.activation == Activation::kGelu ? kernel_->gelu : nullptr};
  const auto compute = [&](const TilePlace& place) {
    const std::byte* const panel = panels_.get() + place.panel * panel_bytes;
    const Prefetch prefetch = next_panel(panel, panel_bytes, place, inputs_);
    kernel_->tiles(storage_)[place.rows - 1]({.a = operands.x + place.row * operands.x_stride,
                                              .a_stride = operands.x_stride,
                                              .panel = panel,
                                              .inputs = inputs_,
                                              .bias = bias_.data() + place.panel * panel_width(),
                                              .c = place.c,
                                              .c_stride = place.c_stride,
                                              .prefetch = prefetch.from,
                                              .prefetch_step = prefetch.step});
  };
  for_each_tile(product, compute);
}

}  // namespace gemm
