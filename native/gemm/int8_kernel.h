// Tiles of a product of 8-bit integers.
#pragma once

#include <cstdint>

namespace gemm {

/// Integers that one instruction multiplies and adds up.
constexpr int kGroup = 4;

/// One tile: c[rows, panel_width] = a[rows, groups × 4] × panel[groups, panel_width, 4].
struct Int8Tile {
  const uint8_t* a;
  int64_t a_stride;
  const int8_t* panel;
  int64_t groups;
  int32_t* c;  ///< rows end to end
};

using Int8TileFunction = void (*)(const Int8Tile& tile);

struct Int8Kernel {
  bool (*is_supported)();
  int panel_width;
  int tile_rows;
  const Int8TileFunction* tiles;  ///< [tile_rows], for 1, 2, … rows
};

#if defined(__x86_64__)
extern const Int8Kernel kInt8Avx2Kernel;
extern const Int8Kernel kInt8Avx512Kernel;
#endif

}  // namespace gemm
