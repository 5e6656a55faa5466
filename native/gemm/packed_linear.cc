#include "gemm/packed_linear.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "kernel.h"
#include "tiling.h"

namespace gemm {
namespace {

/// Rows of x that are taken together stay in the second-level cache while the panels stream by.
constexpr int64_t kBlockBytes = 262'144;
constexpr size_t kAlignment = 64;

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

/// Columns from … to - 1 of a panel, all that is asked for of it.
struct Columns {
  int64_t from, to, width;
  bool are_all() const { return to - from == width; }
};

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
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  panels_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!panels_) throw std::bad_alloc();
  if (storage_ == Storage::kFloat32) {
    pack_panels(static_cast<const float*>(weight), reinterpret_cast<float*>(panels_.get()),
                outputs_, inputs_, panel_width());
  } else {
    pack_panels(static_cast<const uint16_t*>(weight), reinterpret_cast<uint16_t*>(panels_.get()),
                outputs_, inputs_, panel_width());
  }
}

const std::byte* PackedLinear::panel(int64_t index) const {
  return panels_.get() + index * panel_width() * inputs_ * bytes_of(storage_);
}

void PackedLinear::multiply(const Operands& operands, int64_t first_output, int64_t count) const {
  if (count == 0) return;
  const int64_t row_bytes = std::max<int64_t>(inputs_, 1) * static_cast<int64_t>(sizeof(float));
  const int64_t most_tiles = std::max<int64_t>(1, kBlockBytes / (row_bytes * kernel_->tile_rows));
  const int64_t tiles = ceil_divide(operands.rows, kernel_->tile_rows);
  // Blocks of like size, rather than full ones and a small rest.
  const int64_t blocks = std::max<int64_t>(1, ceil_divide(tiles, most_tiles));
  const int64_t block_rows = ceil_divide(tiles, blocks) * kernel_->tile_rows;
  Operands block = operands;
  for (int64_t row = 0; row < operands.rows; row += block_rows) {
    block.x = operands.x + row * operands.x_stride;
    block.y = operands.y + row * operands.y_stride;
    block.rows = std::min(block_rows, operands.rows - row);
    multiply_block(block, first_output, count);
  }
}

void PackedLinear::multiply_block(const Operands& block, int64_t first_output,
                                  int64_t count) const {
  const int64_t width = panel_width();
  const int64_t end = first_output + count;
  for (int64_t index = first_output / width; index * width < end; ++index) {
    const int64_t start = index * width;
    const Columns columns{.from = std::max(first_output - start, int64_t{0}),
                          .to = std::min(end - start, width),
                          .width = width};
    compute_panel(block, index, columns, block.y + (start + columns.from - first_output));
  }
}

/// All rows of one panel, in tiles of like size: a small rest would cost nearly a full tile.
void PackedLinear::compute_panel(const Operands& block, int64_t index, const Columns& columns,
                                 float* y) const {
  const int64_t width = columns.width;
  const int64_t panel_bytes = width * inputs_ * bytes_of(storage_);
  float whole[kMostTileRows * kWidestPanel];  // where only some columns are wanted
  int64_t left = block.rows;
  int64_t tiles = ceil_divide(left, kernel_->tile_rows);
  const bool in_place = columns.are_all();
  // The next panel comes into the cache while this one is used.
  Tile tile{.a = block.x,
            .a_stride = block.x_stride,
            .panel = panel(index),
            .inputs = inputs_,
            .bias = bias_.data() + index * width,
            .c = in_place ? y : whole,
            .c_stride = in_place ? block.y_stride : width,
            .prefetch = static_cast<const char*>(tile.panel) + panel_bytes,
            .prefetch_step = ceil_divide(panel_bytes, tiles * inputs_)};
  for (; tiles > 0; --tiles) {
    const int64_t rows = ceil_divide(left, tiles);
    kernel_->tiles(storage_)[rows - 1](tile);
    if (block.activation == Activation::kGelu) kernel_->gelu(tile.c, rows, tile.c_stride);
    if (in_place) {
      tile.c += rows * tile.c_stride;
    } else {
      for (int64_t row = 0; row < rows; ++row, y += block.y_stride) {
        std::copy(whole + row * width + columns.from, whole + row * width + columns.to, y);
      }
    }
    tile.a += rows * block.x_stride;
    tile.prefetch += tile.prefetch_step * inputs_;
    left -= rows;
  }
}

}  // namespace gemm
