#include "kernels/linear.h"

#include <algorithm>

#include "elementwise/elementwise.h"
#include "format/kernel.h"
#include "linear/tiling.h"

namespace kernels {
namespace {

/// Rows that lie a multiple of so many bytes apart share a few sets of the first-level cache, which
/// the rows of one tile do not fit into; a few do.
constexpr int64_t kSetsApart = 4096, kFewRows = 4;

/// Rows of x that are taken together stay in the second-level cache while the panels stream by. An
/// ordinary text is one block even of 3,072 inputs: else large weights come from memory twice for
/// it.
constexpr int64_t kBlockBytes = 524'288;

}  // namespace

Rows::Rows(const FormatKernel& by, const Floats& x)
    : kernel_(by.kernel),
      x_(x),
      value_bytes_(by.kernel->value_bytes),
      stride_(x.stride),
      first_(x.values) {
  if (kernel_->round_rows != nullptr) {
    stride_ = filled_up(x.count, kernel_->inputs_together);
    if (by.format->is_integer) scales_.resize(static_cast<size_t>(x.rows));
  } else if (x.stride * value_bytes_ % kSetsApart == 0 && x.rows > kFewRows) {
    stride_ = x.count + kLineFloats;  // the same rows, a cache line further apart
  } else {
    return;
  }
  memory_ = make_aligned<std::byte>(static_cast<size_t>(x.rows * stride_ * value_bytes_));
  first_ = memory_.get();
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
                         .scales = scales_.empty() ? nullptr : scales_.data() + first});
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(from + i * x_.stride, x_.count, reinterpret_cast<float*>(to) + i * stride_);
  }
}

Linear::Linear(const FormatKernel& by, const StoredWeight& weight, const float* bias)
    : by_(by.for_inputs(weight.inputs)),
      storage_(weight.storage),
      inputs_(weight.inputs),
      weight_(by_.format->pack(weight, *by_.kernel)),
      bias_(static_cast<size_t>(filled_up(weight.outputs, by_.kernel->panel_width))) {
  if (bias != nullptr) std::copy_n(bias, weight.outputs, bias_.begin());
}

int64_t Linear::panel_width() const { return by_.kernel->panel_width; }

/// What one call of multiply() has for all of its panels.
struct Linear::Product {
  const Rows& x;
  const OutputRange& range;
  float* y;
  int64_t y_stride;
  int64_t filled;             ///< inputs
  EpilogueFunction epilogue;  ///< or null
};

/// Blocks of rows outside, panels between, tiles inside.
void Linear::multiply(const Rows& x, const OutputRange& range, float* y, int64_t y_stride) const {
  if (x.rows() == 0 || range.count == 0) return;
  const Kernel& kernel = *by_.kernel;
  const int64_t width = kernel.panel_width, filled = filled_up(inputs_, kernel.inputs_together);
  const Product product{.x = x,
                        .range = range,
                        .y = y,
                        .y_stride = y_stride,
                        .filled = filled,
                        .epilogue = best_epilogue(range.epilogue, width)};
  const int64_t tile_bytes = std::max<int64_t>(1, filled * kernel.value_bytes * kernel.tile_rows);
  const int64_t most_tiles = std::max<int64_t>(1, kBlockBytes / tile_bytes);
  // Blocks of like size, rather than full ones and a small rest.
  const int64_t tiles = ceil_divide(x.rows(), kernel.tile_rows);
  const int64_t blocks = ceil_divide(tiles, most_tiles);
  const int64_t block_rows = ceil_divide(tiles, blocks) * kernel.tile_rows;
  const int64_t end = range.first + range.count;
  for (int64_t row = 0; row < x.rows(); row += block_rows) {
    const int64_t rows = std::min(block_rows, x.rows() - row);
    for (int64_t panel = range.first / width; panel * width < end; ++panel) {
      multiply_panel(product, panel, row, rows);
    }
  }
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

/// Some rows, in tiles of like size: a small rest would cost nearly a full tile. The next panel
/// comes into the cache while this one is used: each tile asks for its share, so many bytes with
/// each of its steps.
void Linear::multiply_panel(const Product& product, int64_t panel, int64_t row,
                            int64_t rows) const {
  const Kernel& kernel = *by_.kernel;
  const Rows& x = product.x;
  const int64_t width = kernel.panel_width, stride = product.y_stride, output = panel * width;
  const std::byte* const stored = weight_.panels.get() + panel * weight_.panel_bytes;
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
    size = ceil_divide(rows - taken, count - index);
    float* const y = product.y + (row + taken) * stride;
    float* const c = is_done ? y + start : between;
    const bool is_integer = by_.format->is_integer;
    kernel.tile(size,
                storage_)({.a = x.values(row + taken),
                           .a_stride = x.stride(),
                           .panel = stored,
                           .inputs = product.filled,
                           .bias = bias_.data() + output,
                           .c = c,
                           .c_stride = is_done ? stride : width,
                           .prefetch = prefetch + index * prefetch_step * steps,
                           .prefetch_step = prefetch_step,
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

}  // namespace kernels
