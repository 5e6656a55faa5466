#include "gemm/packed_linear.h"

#include <algorithm>
#include <cstring>

#include "tiling.h"

namespace gemm {
namespace {

int64_t bytes_of(Storage storage) { return storage == Storage::kFloat32 ? 4 : 2; }

template <class Stored>
void pack_panels(const Stored* weight, Stored* panels, int64_t outputs, int64_t inputs,
                 int64_t width) {
  for (int64_t first = 0; first < outputs; first += width) {
    const int64_t count = std::min(width, outputs - first);
    const Stored* rows = weight + first * inputs;
    Stored* panel = panels + first * inputs;
    for (int64_t k = 0; k < inputs; ++k) {
      for (int64_t j = 0; j < count; ++j) panel[k * width + j] = rows[j * inputs + k];
      std::fill(panel + k * width + count, panel + (k + 1) * width, Stored{0});
    }
  }
}

}  // namespace

PackedLinear::PackedLinear(const void* weight, Storage storage, const float* bias, int64_t outputs,
                           int64_t inputs)
    : PackedLinear(best_kernel(), weight, storage, bias, outputs, inputs) {}

PackedLinear::PackedLinear(const Kernel& kernel, const void* weight, Storage storage,
                           const float* bias, int64_t outputs, int64_t inputs)
    : kernel_(&kernel), storage_(storage), outputs_(outputs), inputs_(inputs) {
  bias_.resize(static_cast<size_t>(ceil_divide(outputs, panel_width()) * panel_width()));
  if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
  pack(weight);
}

int64_t PackedLinear::panel_width() const { return kernel_->panel_width; }

void PackedLinear::pack(const void* weight) {
  const size_t bytes = bias_.size() * static_cast<size_t>(inputs_ * bytes_of(storage_));
  panels_ = make_aligned<std::byte>(bytes);
  if (storage_ == Storage::kFloat32) {
    pack_panels(static_cast<const float*>(weight), reinterpret_cast<float*>(panels_.get()),
                outputs_, inputs_, panel_width());
  } else {
    pack_panels(static_cast<const uint16_t*>(weight), reinterpret_cast<uint16_t*>(panels_.get()),
                outputs_, inputs_, panel_width());
  }
}

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
