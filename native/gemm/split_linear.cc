#include "gemm/split_linear.h"

#include <algorithm>

#include "choice.h"
#include "gemm/processor.h"
#include "kernel.h"
#include "panels.h"
#include "split_kernel.h"
#include "tiling.h"

namespace gemm {
namespace {

const Choice<SplitKernel>& chosen() {
  static const Choice<SplitKernel> choice = choose<SplitKernel>(
      {
#if defined(__x86_64__)
          &kSplitAmxKernel
#endif
      },
      kPortableSplitKernel, this_processor().usable);
  return choice;
}

/// Of this thread, kept for its next product: as much as a panel's parts ever needed.
uint16_t* scratch(size_t count) {
  thread_local AlignedArray<uint16_t> memory;
  thread_local size_t size = 0;
  if (size < count) {
    memory = make_aligned<uint16_t>(count);
    size = count;
  }
  return memory.get();
}

}  // namespace

const SplitKernel& best_split_kernel() { return *chosen().kernel; }

bool SplitLinear::is_fast() { return chosen().kernel != &kPortableSplitKernel; }

const char* SplitLinear::kernel_name() { return chosen().kernel->name; }

const std::vector<std::string>& SplitLinear::warnings() { return chosen().warnings; }

SplitRows::SplitRows(const float* x, int64_t rows, int64_t x_stride, int64_t inputs, Parts parts)
    : SplitRows(best_split_kernel(), x, rows, x_stride, inputs, parts) {}

SplitRows::SplitRows(const SplitKernel& kernel, const float* x, int64_t rows, int64_t x_stride,
                     int64_t inputs, Parts parts)
    : rows_(rows),
      parts_(parts),
      stride_(row_stride(inputs, kernel.inputs_together, kernel.row_step)),
      part_size_(filled_up(rows, kernel.row_step) * stride_),
      values_(make_aligned<uint16_t>(static_cast<size_t>(part_size_ * static_cast<int>(parts)))) {
  for (int64_t i = 0; i < rows; ++i) {
    kernel.split(x + i * x_stride, inputs, parts, values_.get() + i * stride_, part_size_);
  }
  for (int part = 0; part < static_cast<int>(parts); ++part) {
    uint16_t* const values = values_.get() + part * part_size_;
    for (int64_t i = 0; i < rows; ++i) {
      std::fill(values + i * stride_ + inputs, values + (i + 1) * stride_, uint16_t{0});
    }
    std::fill(values + rows * stride_, values + part_size_, uint16_t{0});
  }
}

SplitLinear::SplitLinear(const void* weight, Storage storage, const float* bias, int64_t outputs,
                         int64_t inputs)
    : SplitLinear(best_split_kernel(), weight, storage, bias, outputs, inputs) {}

SplitLinear::SplitLinear(const SplitKernel& kernel, const void* weight, Storage storage,
                         const float* bias, int64_t outputs, int64_t inputs)
    : kernel_(&kernel),
      storage_(storage),
      inputs_(inputs),
      panels_(pack_panels({weight, storage, outputs, inputs}, kernel.panel_width)) {
  bias_.resize(static_cast<size_t>(filled_up(outputs, kernel.panel_width)));
  if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
}

int64_t SplitLinear::panel_width() const { return kernel_->panel_width; }

void SplitLinear::multiply(const SplitRows& x, float* y, int64_t y_stride, Activation activation,
                           int64_t first_output, int64_t count) const {
  const int64_t width = panel_width();
  const int64_t filled = filled_up(inputs_, kernel_->inputs_together);
  const int64_t panel_bytes = width * inputs_ * bytes_of(storage_);
  const int parts = weight_parts(storage_, x.parts());
  uint16_t* const split = scratch(static_cast<size_t>(parts * filled * width));
  const Product product{
      .rows = x.rows(),
      .row_bytes = filled * static_cast<int>(x.parts()) * static_cast<int64_t>(sizeof(uint16_t)),
      .tile_rows = kernel_->tile_rows,
      .row_step = kernel_->row_step,
      .panel_width = width,
      .first_output = first_output,
      .outputs = count,
      .y = y,
      .y_stride = y_stride,
      .activation = activation == Activation::kGelu ? best_gelu(width) : nullptr,
      .block_bytes = kLargeBlockBytes};
  const auto compute = [&](const TilePlace& place) {
    const std::byte* const stored = panels_.get() + place.panel * panel_bytes;
    if (place.index == 0) {
      kernel_->split_panel({.stored = stored,
                            .storage = storage_,
                            .inputs = inputs_,
                            .filled = filled,
                            .to = split,
                            .parts = parts});
    }
    const Prefetch prefetch =
        next_panel(stored, panel_bytes, place, filled / kernel_->inputs_together);
    kernel_->compute({.a = x.values(place.row),
                      .a_part_size = x.part_size(),
                      .a_stride = x.stride(),
                      .a_parts = static_cast<int>(x.parts()),
                      .panel = split,
                      .panel_part_size = filled * width,
                      .panel_parts = parts,
                      .inputs = filled,
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
