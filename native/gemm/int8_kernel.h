// What one processor family brings to products of 8-bit integers.
#pragma once

#include <cstdint>

#include "gemm/instructions.h"
#include "gemm/quantized_linear.h"

namespace gemm {

/// Integers that one instruction multiplies and adds up.
constexpr int kGroup = 4;

/// AVX2 adds up the products of four groups in 16 bits, those of a group in two lanes, before it
/// widens them. Rows are filled up to a multiple, and by some kernels to a larger one.
constexpr int kGroupsTogether = 4;
constexpr int kInputsTogether = kGroup * kGroupsTogether;
constexpr int kLanesOfGroup = 2;

/// Values are whole numbers from 0 on, weights have a sign. The weights whose products meet in a
/// lane are so small together that it cannot overflow, whatever the values are.
constexpr int kMostValue = 127;
constexpr int kMostWeight = 127;
constexpr int kMostInLane = INT16_MAX / kMostValue;

/// Of values and of weights: the smallest float32 with all of its bits. What is below has no finite
/// inverse, or rounds so much that a quotient would not fit into 8 bits.
constexpr float kLeastScale = 0x1p-126F;

/// One tile: c[rows, panel_width] = x[rows, inputs] × panel[inputs, panel_width] + bias, where
/// panel stands for [inputs / 4, panel_width, 4].
struct Int8Tile {
  const uint8_t* a;
  int64_t a_stride;
  const RowScale* row_scales;  ///< [rows]
  const int8_t* panel;
  int64_t inputs;              ///< a multiple of the kernel's inputs_together
  const float* scales;         ///< [panel_width]
  const int32_t* weight_sums;  ///< [panel_width]
  const float* bias;           ///< [panel_width]
  float* c;
  int64_t c_stride;
  int64_t rows;
  const char* prefetch;  ///< see Tile; with each step
  int64_t prefetch_step;
};

using Int8TileFunction = void (*)(const Int8Tile& tile);

struct Int8Kernel {
  const char* name;
  Instructions needs;
  int panel_width;
  int tile_rows;
  int row_step = 1;                       ///< see BFloat16Kernel
  int inputs_together = kInputsTogether;  ///< the same; a multiple of kInputsTogether
  int inputs_a_step = kGroup;     ///< with each of which Int8Tile.prefetch_step bytes are asked for
  const Int8TileFunction* tiles;  ///< [tile_rows], for 1, 2, … rows
  /// from[count] to whole numbers. A row with a value that is not finite gets the scale NaN.
  RowScale (*quantize)(const float* from, uint8_t* to, int64_t count);
  /// See BFloat16Kernel.
  void (*begin)(int64_t rows) = nullptr;
  void (*end)() = nullptr;
};

extern const Int8Kernel kPortableInt8Kernel;
#if defined(__x86_64__)
extern const Int8Kernel kInt8Avx2Kernel;
extern const Int8Kernel kInt8Avx512Kernel;
extern const Int8Kernel kInt8AmxKernel;
#endif

/// As best_kernel().
const Int8Kernel& best_int8_kernel();

}  // namespace gemm
