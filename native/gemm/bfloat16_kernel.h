// What one processor family brings to products in bfloat16.
#pragma once

#include <cstdint>

#include "gemm/instructions.h"

namespace gemm {

/// Numbers that one instruction multiplies and adds up.
constexpr int kPair = 2;

/// One tile: c[rows, panel_width] = a[rows, inputs] × panel[inputs, panel_width] + bias, where
/// panel stands for [inputs / 2, panel_width, 2].
struct BFloat16Tile {
  const uint16_t* a;
  int64_t a_stride;
  const uint16_t* panel;
  int64_t inputs;     ///< even
  const float* bias;  ///< [panel_width]
  float* c;
  int64_t c_stride;
  const char* prefetch;  ///< see Tile; with each pair
  int64_t prefetch_step;
};

using BFloat16TileFunction = void (*)(const BFloat16Tile& tile);

struct BFloat16Kernel {
  const char* name;
  Instructions needs;
  int panel_width;
  int tile_rows;
  const BFloat16TileFunction* tiles;  ///< [tile_rows], for 1, 2, … rows
  /// from[count], rounded to the nearest, to even where two are as near.
  void (*round)(const float* from, uint16_t* to, int64_t count);
};

extern const BFloat16Kernel kPortableBFloat16Kernel;
#if defined(__x86_64__)
extern const BFloat16Kernel kBFloat16Avx512Kernel;
#endif

/// As best_kernel().
const BFloat16Kernel& best_bfloat16_kernel();

}  // namespace gemm
