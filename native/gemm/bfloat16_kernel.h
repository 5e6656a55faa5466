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
  int64_t inputs;     ///< a multiple of the kernel's inputs_together
  const float* bias;  ///< [panel_width]
  float* c;
  int64_t c_stride;
  int64_t rows;
  const char* prefetch;  ///< see Tile; with each inputs_together
  int64_t prefetch_step;
};

using BFloat16TileFunction = void (*)(const BFloat16Tile& tile);

struct BFloat16Kernel {
  const char* name;
  Instructions needs;
  int panel_width;
  int tile_rows;
  int row_step = 1;             ///< tiles that are not full have a multiple, but for the last one
  int inputs_together = kPair;  ///< rows are filled up to a multiple, with zeros
  const BFloat16TileFunction* tiles;  ///< [tile_rows], for 1, 2, … rows
  /// from[count], rounded to the nearest, to even where two are as near.
  void (*round)(const float* from, uint16_t* to, int64_t count);
  /// A panel of float32, [inputs, panel_width], rounded the same way and laid out as BFloat16Tile's
  /// [filled / 2, panel_width, 2], with zeros behind the inputs.
  void (*round_panel)(const float* from, int64_t inputs, int64_t filled, uint16_t* to);
  /// Around the tiles of a product of so many rows, on their thread; or null.
  void (*begin)(int64_t rows) = nullptr;
  void (*end)() = nullptr;
};

extern const BFloat16Kernel kPortableBFloat16Kernel;
#if defined(__x86_64__)
extern const BFloat16Kernel kBFloat16Avx512Kernel;
extern const BFloat16Kernel kBFloat16AmxKernel;
#endif

/// As best_kernel().
const BFloat16Kernel& best_bfloat16_kernel();

}  // namespace gemm
