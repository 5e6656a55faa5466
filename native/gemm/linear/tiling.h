// How a product is taken apart into tiles, which kernels compute.
#pragma once

#include <algorithm>
#include <cstdint>

#include "elementwise/elementwise.h"
#include "format/kernel.h"

namespace gemm {

/// Of all kernels.
constexpr int kMostTileRows = 32;
constexpr int kWidestPanel = 32;

/// Of a cache line.
constexpr int64_t kLineFloats = 64 / sizeof(float);

/// Rows of x that are taken together stay in the second-level cache while the panels stream by. An
/// ordinary text is one block even of 3,072 inputs: else large weights come from memory twice for
/// it.
constexpr int64_t kBlockBytes = 524'288;

/// Where more is done to each panel than to read it: of a processor with 2 MiB of that cache.
constexpr int64_t kLargeBlockBytes = 1'048'576;

inline int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline int64_t filled_up(int64_t count, int64_t step) { return ceil_divide(count, step) * step; }

/// Of rows of so many inputs, filled up. Those that a step of several rows reads one below the
/// other are an odd number of cache lines apart: else large powers of 2 would put all of them into
/// the same few sets of the first-level cache.
inline int64_t row_stride(int64_t inputs, int64_t inputs_together, int64_t row_step) {
  const int64_t filled = filled_up(inputs, inputs_together);
  const bool is_even = filled / inputs_together % 2 == 0;
  return row_step > 1 && is_even ? filled + inputs_together : filled;
}

/// y = x Wᵀ for some of the outputs. Panels of the weights are panel_width outputs each.
struct Product {
  int64_t rows;
  int64_t row_bytes;  ///< of x
  int64_t tile_rows;  ///< most rows of a tile
  int64_t row_step;   ///< each tile's rows but the last one's are a multiple
  int64_t panel_width;
  int64_t first_output, outputs;
  float* y;  ///< [rows, outputs]
  int64_t y_stride;
  ActivationFunction activation;  ///< or null
  int64_t block_bytes = kBlockBytes;
};

/// A tile's part of the work, and where its result goes: [rows, panel_width].
struct TilePlace {
  int64_t panel;
  int64_t row, rows;
  int64_t index, count;  ///< among the tiles of its panel in this block of rows
  float* c;
  int64_t c_stride;
};

/// What a tile asks for meanwhile: so many bytes of it with each of its steps.
struct Prefetch {
  const char* from;
  int64_t step;
};

/// The next panel comes into the cache while this one is used: each tile asks for its share.
inline Prefetch next_panel(const void* panel, int64_t panel_bytes, const TilePlace& place,
                           int64_t steps) {
  const int64_t step = ceil_divide(panel_bytes, place.count * steps);
  return {.from = static_cast<const char*>(panel) + panel_bytes + place.index * step * steps,
          .step = step};
}

/// Some rows of one panel, in tiles of like size: a small rest would cost nearly a full tile. Where
/// rows are computed in steps, it costs a step.
template <class Compute>
void for_each_tile_of_panel(const Product& product, int64_t panel, int64_t row, int64_t rows,
                            const Compute& compute) {
  const int64_t width = product.panel_width, stride = product.y_stride;
  const int64_t start = panel * width - product.first_output;
  const int64_t from = std::max(start, int64_t{0});
  const int64_t to = std::min(start + width, product.outputs);
  const bool in_place = to - from == width;
  float whole[kMostTileRows * kWidestPanel];  // where only some columns are wanted
  const int64_t count = ceil_divide(rows, product.tile_rows);
  for (int64_t index = 0, taken = 0; index < count; ++index) {
    const int64_t even = ceil_divide(rows - taken, count - index);
    const int64_t size =
        std::min(ceil_divide(even, product.row_step) * product.row_step, rows - taken);
    float* const y = product.y + (row + taken) * stride;
    const TilePlace place{.panel = panel,
                          .row = row + taken,
                          .rows = size,
                          .index = index,
                          .count = count,
                          .c = in_place ? y + start : whole,
                          .c_stride = in_place ? stride : width};
    compute(place);
    if (product.activation != nullptr) product.activation(place.c, size, width, place.c_stride);
    if (!in_place) {
      for (int64_t i = 0; i < size; ++i) {
        const float* const wanted = whole + i * width + (from - start);
        std::copy(wanted, wanted + (to - from), y + i * stride + from);
      }
    }
    taken += size;
  }
}

/// Calls compute(TilePlace) for each tile: blocks of rows outside, panels between, tiles inside.
template <class Compute>
void for_each_tile(const Product& product, const Compute& compute) {
  if (product.rows == 0 || product.outputs == 0) return;
  const int64_t tile_bytes = std::max<int64_t>(1, product.row_bytes * product.tile_rows);
  const int64_t most_tiles = std::max<int64_t>(1, product.block_bytes / tile_bytes);
  const int64_t tiles = ceil_divide(product.rows, product.tile_rows);
  // Blocks of like size, rather than full ones and a small rest.
  const int64_t blocks = std::max<int64_t>(1, ceil_divide(tiles, most_tiles));
  const int64_t block_rows = ceil_divide(tiles, blocks) * product.tile_rows;
  const int64_t end = product.first_output + product.outputs;
  for (int64_t row = 0; row < product.rows; row += block_rows) {
    const int64_t rows = std::min(block_rows, product.rows - row);
    for (int64_t panel = product.first_output / product.panel_width;
         panel * product.panel_width < end; ++panel) {
      for_each_tile_of_panel(product, panel, row, rows, compute);
    }
  }
}

/// The same between what a kernel needs before and after its tiles on this thread: nothing where
/// there are no tiles. (AMX refuses to be made ready for tiles of no rows: the process would end.)
template <class Compute>
void for_each_tile(const Kernel& kernel, const Product& product, const Compute& compute) {
  if (product.rows == 0 || product.outputs == 0) return;
  if (kernel.begin != nullptr) kernel.begin(product.rows);
  for_each_tile(product, compute);
  if (kernel.end != nullptr) kernel.end();
}

}  // namespace gemm
