#include <algorithm>

#include "elementwise/elementwise.h"
#include "kernels/matmul.h"
#include "matmul/kernel.h"
#include "matmul/tiling.h"

namespace kernels {
namespace {

/// Rows with a stride that is a multiple of kConflictStride bytes map to the same few sets of the
/// L1 cache. More than kFewRows rows of a tile would evict each other.
constexpr int64_t kConflictStride = 4096, kFewRows = 4;

/// Size of a block of rows, which stays in the L2 cache while panels are read. A text of ordinary
/// length fits into one block even with 3,072 inputs, so its weights are read from memory once.
constexpr int64_t kBlockBytes = 524'288;

}  // namespace

PackedA::PackedA(const FormatKernel& by, const Floats& x)
    : kernel_(by.kernel),
      x_(x),
      value_bytes_(by.kernel->value_bytes),
      stride_(x.stride),
      first_(x.values) {
  if (kernel_->pack_a != nullptr) {
    stride_ = round_up(x.count, kernel_->kr);
    if (by.format->is_integer) scales_.resize(static_cast<size_t>(x.rows));
  } else if (x.stride * value_bytes_ % kConflictStride == 0 && x.rows > kFewRows) {
    stride_ = x.count + kLineFloats;  // copies with a stride of one more cache line
  } else {
    return;
  }
  const int64_t rows = round_up(x.rows, kernel_->row_step);
  memory_ = make_aligned<std::byte>(static_cast<size_t>(rows * stride_ * value_bytes_));
  first_ = memory_.get();
}

void PackedA::pack(int64_t first, int64_t count) {
  if (!needs_packing()) return;
  const float* const from = x_.values + first * x_.stride;
  std::byte* const to = memory_.get() + first * stride_ * value_bytes_;
  if (kernel_->pack_a != nullptr) {
    kernel_->pack_a({.from = from,
                     .stride = x_.stride,
                     .rows = count,
                     .count = x_.count,
                     .to = to,
                     .to_stride = stride_,
                     .padded = stride_,
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
      weight_(by_.format->pack_b(weight, *by_.kernel)),
      bias_(static_cast<size_t>(round_up(weight.outputs, by_.kernel->nr))) {
  if (bias != nullptr) std::copy_n(bias, weight.outputs, bias_.begin());
}

int64_t Linear::nr() const { return by_.kernel->nr; }

/// Arguments of one call of multiply().
struct Linear::Product {
  const PackedA& x;
  const OutputRange& range;
  float* y;
  int64_t y_stride;
  int64_t padded_inputs;
  EpilogueFunction epilogue;  ///< null: kStore
};

/// Loops over blocks of rows, then panels, then tiles.
void Linear::multiply(const PackedA& x, const OutputRange& range, float* y,
                      int64_t y_stride) const {
  if (x.rows() == 0 || range.count == 0) return;
  const Kernel& kernel = *by_.kernel;
  const int64_t width = kernel.nr, padded = round_up(inputs_, kernel.kr);
  const Product product{.x = x,
                        .range = range,
                        .y = y,
                        .y_stride = y_stride,
                        .padded_inputs = padded,
                        .epilogue = best_epilogue(range.epilogue, width)};
  const int64_t tile_bytes = std::max<int64_t>(1, padded * kernel.value_bytes * kernel.mr);
  const int64_t most_tiles = std::max<int64_t>(1, kBlockBytes / tile_bytes);
  // Blocks of equal size instead of full blocks and a small remainder.
  const int64_t tiles = ceil_divide(x.rows(), kernel.mr);
  const int64_t blocks = ceil_divide(tiles, most_tiles);
  const int64_t block_rows = ceil_divide(tiles, blocks) * kernel.mr;
  const int64_t end = range.first + range.count;
  const UsedKernel used(kernel);
  for (int64_t row = 0; row < x.rows(); row += block_rows) {
    const int64_t rows = std::min(block_rows, x.rows() - row);
    for (int64_t panel = range.first / width; panel * width < end; ++panel) {
      multiply_panel(product, panel, row, rows);
    }
  }
}

/// A range of columns of a tile.
struct Linear::Columns {
  const float* tile;  ///< [rows, width]
  int64_t rows, width;
  int64_t first, count;
};

/// Applies the epilogue to the columns and stores them. to: destination of the first column.
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
  float whole[kMaxMr * kMaxNr] = {};
  copy(to, product.y_stride, whole + columns.first, columns.width);
  product.epilogue(columns.tile, columns.rows, columns.width, whole, columns.width);
  copy(whole + columns.first, columns.width, to, product.y_stride);
}

/// Multiplies a block of rows with one panel. Each tile prefetches its share of the next panel.
void Linear::multiply_panel(const Product& product, int64_t panel, int64_t row,
                            int64_t rows) const {
  const Kernel& kernel = *by_.kernel;
  const PackedA& x = product.x;
  const int64_t width = kernel.nr, stride = product.y_stride, output = panel * width;
  const std::byte* const stored = weight_.panels.get() + panel * weight_.panel_bytes;
  const int64_t start = output - product.range.first;
  const int64_t from = std::max(start, int64_t{0});
  const int64_t to = std::min(start + width, product.range.count);
  const bool is_whole = to - from == width;
  // Scratch tile, used if only some columns are needed or an epilogue follows. Storing to y and
  // reading it back would cause store-to-load aliasing at addresses that differ by a multiple of 4
  // KiB.
  alignas(kLineBytes) float scratch[kMaxMr * kMaxNr];
  const bool is_direct = is_whole && product.epilogue == nullptr;
  const int64_t count = ceil_divide(rows, kernel.mr);
  const int64_t steps = product.padded_inputs / kernel.k_step;
  const int64_t prefetch_step = ceil_divide(weight_.panel_bytes, count * steps);
  const auto* prefetch = reinterpret_cast<const char*>(stored) + weight_.panel_bytes;
  for (int64_t index = 0, taken = 0, size = 0; index < count; ++index, taken += size) {
    size = rows_of_tile(kernel, rows - taken, count - index);
    float* const y = product.y + (row + taken) * stride;
    float* const c = is_direct ? y + start : scratch;
    const bool is_integer = by_.format->is_integer;
    kernel.tile(size,
                storage_)({.a = x.values(row + taken),
                           .a_stride = x.stride(),
                           .panel = stored,
                           .inputs = product.padded_inputs,
                           .bias = bias_.data() + output,
                           .c = c,
                           .c_stride = is_direct ? stride : width,
                           .prefetch = prefetch + index * prefetch_step * steps,
                           .prefetch_step = prefetch_step,
                           .row_scales = x.scales(row + taken),
                           .scales = is_integer ? weight_.scales.data() + output : nullptr,
                           .weight_sums = is_integer ? weight_.sums.data() + output : nullptr});
    if (is_whole && product.epilogue != nullptr) {
      product.epilogue(c, size, width, y + start, stride);
    }
    if (!is_whole)
      store_columns(product, {scratch, size, width, from - start, to - from}, y + from);
  }
}

}  // namespace kernels
