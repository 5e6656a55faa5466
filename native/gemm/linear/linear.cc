#include "gemm/linear.h"

#include <algorithm>
#include <utility>

#include "elementwise/elementwise.h"
#include "format/bfloat16.h"
#include "format/kernel.h"
#include "linear/tiling.h"

namespace gemm {
namespace {

/// Of this thread, kept for its next product: as much as a panel's parts ever needed.
uint16_t* scratch(int64_t wanted) {
  thread_local AlignedArray<uint16_t> memory;
  thread_local size_t size = 0;
  const auto count = static_cast<size_t>(wanted);
  if (size < count) {
    memory = make_aligned<uint16_t>(count);
    size = count;
  }
  return memory.get();
}

/// Rows that lie a multiple of so many bytes apart share a few sets of the first-level cache, which
/// the rows of one tile do not fit into; a few do.
constexpr int64_t kSetsApart = 4096, kFewRows = 4;

}  // namespace

/// The same rows, a cache line further apart where that matters.
void Rows::move_apart(const float* x, int64_t inputs) {
  if (stride_ * value_bytes_ % kSetsApart != 0 || rows_ <= kFewRows) return;
  const int64_t from = std::exchange(stride_, inputs + kLineFloats);
  memory_ = make_aligned<std::byte>(static_cast<size_t>(rows_ * stride_ * value_bytes_));
  auto* const to = reinterpret_cast<float*>(memory_.get());
  for (int64_t i = 0; i < rows_; ++i) std::copy_n(x + i * from, inputs, to + i * stride_);
  first_ = to;
}

Rows::Rows(const FormatKernel& by, const float* x, int64_t rows, int64_t x_stride, int64_t inputs)
    : rows_(rows),
      value_bytes_(by.kernel->value_bytes),
      stride_(x_stride),
      part_size_(0),
      first_(x) {
  const Kernel& kernel = *by.kernel;
  if (kernel.round_rows == nullptr) {
    move_apart(x, inputs);
    return;
  }
  stride_ = row_stride(inputs, kernel.inputs_together, kernel.row_step);
  part_size_ = filled_up(rows, kernel.row_step) * stride_;
  const int parts = std::max(1, by.format->parts);
  memory_ = make_aligned<std::byte>(static_cast<size_t>(parts * part_size_ * value_bytes_));
  first_ = memory_.get();
  if (by.format->is_integer) scales_.resize(static_cast<size_t>(rows));
  kernel.round_rows({.from = x,
                     .stride = x_stride,
                     .rows = rows,
                     .count = inputs,
                     .to = memory_.get(),
                     .to_stride = stride_,
                     .filled = stride_,
                     .parts = {.count = parts, .size = part_size_},
                     .scales = scales_.empty() ? nullptr : scales_.data()});
  for (int part = 1; part <= parts; ++part) {
    const int64_t missing = part_size_ - rows * stride_;
    std::fill_n(memory_.get() + (part * part_size_ - missing) * value_bytes_,
                missing * value_bytes_, std::byte{0});
  }
}

Linear::Linear(const FormatKernel& by, const StoredWeight& weight, const float* bias)
    : by_(by),
      storage_(weight.storage),
      inputs_(weight.inputs),
      weight_(by.format->pack(weight, *by.kernel)),
      bias_(static_cast<size_t>(filled_up(weight.outputs, by.kernel->panel_width))) {
  if (bias != nullptr) std::copy_n(bias, weight.outputs, bias_.begin());
}

int64_t Linear::panel_width() const { return by_.kernel->panel_width; }

void Linear::multiply(const Rows& x, const Wanted& wanted, float* y, int64_t y_stride) const {
  const Kernel& kernel = *by_.kernel;
  const int parts = std::max(1, by_.format->parts);
  const int64_t width = kernel.panel_width, filled = filled_up(inputs_, kernel.inputs_together);
  // Split as they are read, but for those that are rounded already.
  const bool is_split = by_.format->parts > 1;
  const Parts panel_parts{.count = is_split ? weight_parts(storage_, parts) : 1,
                          .size = filled * width};
  uint16_t* const split = is_split ? scratch(panel_parts.count * panel_parts.size) : nullptr;
  const Product product{
      .rows = x.rows(),
      .row_bytes = filled * parts * kernel.value_bytes,
      .tile_rows = kernel.tile_rows,
      .row_step = kernel.row_step,
      .panel_width = width,
      .first_output = wanted.first,
      .outputs = wanted.count,
      .y = y,
      .y_stride = y_stride,
      .activation = wanted.activation == Activation::kGelu ? best_gelu(width) : nullptr,
      .block_bytes = is_split ? kLargeBlockBytes : kBlockBytes};
  const auto of_integers = [this](const auto& values, int64_t output) {
    return by_.format->is_integer ? values.data() + output : nullptr;
  };
  const auto compute = [&](const TilePlace& place) {
    const std::byte* const panel = weight_.panels.get() + place.panel * weight_.panel_bytes;
    if (is_split && place.index == 0) {
      kernel.split_panel({.stored = panel,
                          .storage = storage_,
                          .inputs = inputs_,
                          .filled = filled,
                          .to = split,
                          .parts = panel_parts.count});
    }
    const Prefetch prefetch =
        next_panel(panel, weight_.panel_bytes, place, filled / kernel.inputs_a_step);
    const int64_t output = place.panel * width;
    kernel.tile(place.rows, storage_)({.a = x.values(place.row),
                                       .a_stride = x.stride(),
                                       .panel = is_split ? static_cast<const void*>(split) : panel,
                                       .inputs = filled,
                                       .bias = bias_.data() + output,
                                       .c = place.c,
                                       .c_stride = place.c_stride,
                                       .rows = place.rows,
                                       .prefetch = prefetch.from,
                                       .prefetch_step = prefetch.step,
                                       .a_parts = {.count = parts, .size = x.part_size()},
                                       .panel_parts = panel_parts,
                                       .row_scales = x.scales(place.row),
                                       .scales = of_integers(weight_.scales, output),
                                       .weight_sums = of_integers(weight_.sums, output)});
  };
  for_each_tile(kernel, product, compute);
}

}  // namespace gemm
