#include "gemm/linear.h"

#include <algorithm>

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

/// Rows of x that are taken together stay in the second-level cache while the panels stream by. An
/// ordinary text is one block even of 3,072 inputs: else large weights come from memory twice for
/// it.
constexpr int64_t kBlockBytes = 524'288;

/// Where more is done to each panel than to read it: of a processor with 2 MiB of that cache.
constexpr int64_t kLargeBlockBytes = 1'048'576;

}  // namespace

Rows::Rows(const FormatKernel& by, const Floats& x)
    : kernel_(by.kernel),
      x_(x),
      value_bytes_(by.kernel->value_bytes),
      stride_(x.stride),
      part_size_(0),
      parts_(std::max(1, by.format->parts)),
      first_(x.values) {
  if (kernel_->round_rows != nullptr) {
    stride_ = row_stride(x.count, kernel_->inputs_together, kernel_->row_step);
    part_size_ = filled_up(x.rows, kernel_->row_step) * stride_;
    if (by.format->is_integer) scales_.resize(static_cast<size_t>(x.rows));
  } else if (x.stride * value_bytes_ % kSetsApart == 0 && x.rows > kFewRows) {
    stride_ = x.count + kLineFloats;  // the same rows, a cache line further apart
    part_size_ = x.rows * stride_;
  } else {
    return;
  }
  memory_ = make_aligned<std::byte>(static_cast<size_t>(parts_ * part_size_ * value_bytes_));
  first_ = memory_.get();
  for (int part = 1; part <= parts_; ++part) {
    const int64_t missing = part_size_ - x.rows * stride_;
    std::fill_n(memory_.get() + (part * part_size_ - missing) * value_bytes_,
                missing * value_bytes_, std::byte{0});
  }
}

void Rows::make(int64_t first, int64_t count) {
  if (!needs_making()) return;
  const float* const from = x_.values + first * x_.stride;
  std::byte* const to = memory_.get() + first * stride_ * value_bytes_;
  if (kernel_->round_rows != nullptr) {
    kernel_->round_rows({.from = from,
                         .stride = x_.stride,
                         .rows = count,
                         .count = x_.count,
                         .to = to,
                         .to_stride = stride_,
                         .filled = stride_,
                         .parts = {.count = parts_, .size = part_size_},
                         .scales = scales_.empty() ? nullptr : scales_.data() + first});
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(from + i * x_.stride, x_.count, reinterpret_cast<float*>(to) + i * stride_);
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

/// What one call of multiply() has for all of its panels.
struct Linear::Product {
  const Rows& x;
  const OutputRange& range;
  float* y;
  int64_t y_stride;
  int64_t filled;  ///< inputs
  Parts panel_parts;
  uint16_t* split;            ///< where a panel's parts go; null: panels are multiplied as they are
  EpilogueFunction epilogue;  ///< or null
};

/// Blocks of rows outside, panels between, tiles inside.
void Linear::multiply(const Rows& x, const OutputRange& range, float* y, int64_t y_stride) const {
  // AMX refuses to be made ready for tiles of no rows: the process would end.
  if (x.rows() == 0 || range.count == 0) return;
  const Kernel& kernel = *by_.kernel;
  const int parts = std::max(1, by_.format->parts);
  const int64_t width = kernel.panel_width, filled = filled_up(inputs_, kernel.inputs_together);
  // Split as they are read, but for those that are rounded already.
  const bool is_split = by_.format->parts > 1;
  const Parts panel_parts{.count = is_split ? weight_parts(storage_, parts) : 1,
                          .size = filled * width};
  const Product product{.x = x,
                        .range = range,
                        .y = y,
                        .y_stride = y_stride,
                        .filled = filled,
                        .panel_parts = panel_parts,
                        .split = is_split ? scratch(panel_parts.count * panel_parts.size) : nullptr,
                        .epilogue = best_epilogue(range.epilogue, width)};
  const int64_t tile_bytes =
      std::max<int64_t>(1, filled * parts * kernel.value_bytes * kernel.tile_rows);
  const int64_t block_bytes = is_split ? kLargeBlockBytes : kBlockBytes;
  const int64_t most_tiles = std::max<int64_t>(1, block_bytes / tile_bytes);
  // Blocks of like size, rather than full ones and a small rest.
  const int64_t tiles = ceil_divide(x.rows(), kernel.tile_rows);
  const int64_t blocks = ceil_divide(tiles, most_tiles);
  const int64_t block_rows = ceil_divide(tiles, blocks) * kernel.tile_rows;
  const int64_t end = range.first + range.count;
  if (kernel.begin != nullptr) kernel.begin(x.rows());
  for (int64_t row = 0; row < x.rows(); row += block_rows) {
    const int64_t rows = std::min(block_rows, x.rows() - row);
    for (int64_t panel = range.first / width; panel * width < end; ++panel) {
      multiply_panel(product, panel, row, rows);
    }
  }
  if (kernel.end != nullptr) kernel.end();
}

/// Some columns of a tile.
struct Linear::Columns {
  const float* tile;  ///< [rows, width]
  int64_t rows, width;
  int64_t first, count;
};

/// to: where the first of them go.
void Linear::store_columns(const Product& product, const Columns& columns, float* to) {
  const auto copy = [&](const float* from, int64_t from_stride, float* into, int64_t into_stride) {
    for (int64_t row = 0; row < columns.rows; ++row) {
      std::copy_n(from + row * from_stride, columns.count, into + row * into_stride);
    }
  };
  if (product.epilogue == nullptr) {
    copy(columns.tile + columns.first, columns.width, to, product.y_stride);
    return;
  }
  float whole[kMaxTileRows * kWidestPanel] = {};
  copy(to, product.y_stride, whole + columns.first, columns.width);
  product.epilogue(columns.tile, columns.rows, columns.width, whole, columns.width);
  copy(whole + columns.first, columns.width, to, product.y_stride);
}

/// Some rows, in tiles of like size: a small rest would cost nearly a full tile. Where rows are
/// computed in steps, it costs a step. The next panel comes into the cache while this one is used:
/// each tile asks for its share, so many bytes with each of its steps.
void Linear::multiply_panel(const Product& product, int64_t panel, int64_t row,
                            int64_t rows) const {
  const Kernel& kernel = *by_.kernel;
  const Rows& x = product.x;
  const int64_t width = kernel.panel_width, stride = product.y_stride, output = panel * width;
  const std::byte* const stored = weight_.panels.get() + panel * weight_.panel_bytes;
  if (product.split != nullptr) {
    kernel.split_panel({.stored = stored,
                        .storage = storage_,
                        .inputs = inputs_,
                        .filled = product.filled,
                        .to = product.split,
                        .parts = product.panel_parts.count});
  }
  const int64_t start = output - product.range.first;
  const int64_t from = std::max(start, int64_t{0});
  const int64_t to = std::min(start + width, product.range.count);
  const bool is_whole = to - from == width;
  // Where a tile is not done with: only some columns are wanted, or an epilogue follows. It would
  // read what was just stored at addresses that differ in high bits alone, which processors take
  // for one another.
  alignas(kLineBytes) float between[kMaxTileRows * kWidestPanel];
  const bool is_done = is_whole && product.epilogue == nullptr;
  const int64_t count = ceil_divide(rows, kernel.tile_rows);
  const int64_t steps = product.filled / kernel.inputs_a_step;
  const int64_t prefetch_step = ceil_divide(weight_.panel_bytes, count * steps);
  const auto* prefetch = reinterpret_cast<const char*>(stored) + weight_.panel_bytes;
  for (int64_t index = 0, taken = 0, size = 0; index < count; ++index, taken += size) {
    const int64_t even = ceil_divide(rows - taken, count - index);
    size = std::min(filled_up(even, kernel.row_step), rows - taken);
    float* const y = product.y + (row + taken) * stride;
    float* const c = is_done ? y + start : between;
    const bool is_integer = by_.format->is_integer;
    kernel.tile(size, storage_)(
        {.a = x.values(row + taken),
         .a_stride = x.stride(),
         .panel = product.split != nullptr ? static_cast<const void*>(product.split) : stored,
         .inputs = product.filled,
         .bias = bias_.data() + output,
         .c = c,
         .c_stride = is_done ? stride : width,
         .rows = size,
         .prefetch = prefetch + index * prefetch_step * steps,
         .prefetch_step = prefetch_step,
         .a_parts = {.count = std::max(1, by_.format->parts), .size = x.part_size()},
         .panel_parts = product.panel_parts,
         .row_scales = x.scales(row + taken),
         .scales = is_integer ? weight_.scales.data() + output : nullptr,
         .weight_sums = is_integer ? weight_.sums.data() + output : nullptr});
    if (is_whole && product.epilogue != nullptr) {
      product.epilogue(c, size, width, y + start, stride);
    }
    if (!is_whole)
      store_columns(product, {between, size, width, from - start, to - from}, y + from);
  }
}

}  // namespace gemm
