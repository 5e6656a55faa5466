// What one processor family brings to the products of a number format.
#pragma once

#include <cstdint>

#include "kernels/instructions.h"
#include "kernels/linear.h"

namespace kernels {

/// One tile: c[rows, panel_width] = a[rows, inputs] × panel[inputs, panel_width] + bias. The panel
/// lies as [inputs / group, panel_width, group], where a group is what one instruction multiplies
/// and adds up: one float32, two bfloat16 numbers, four integers.
struct Tile {
  const void* a;
  int64_t a_stride;  ///< numbers from row to row
  const void* panel;
  int64_t inputs;     ///< a multiple of the kernel's inputs_together
  const float* bias;  ///< [panel_width]
  float* c;
  int64_t c_stride;
  /// What will be read next: so many bytes of it are asked for with each inputs_a_step.
  const char* prefetch;
  int64_t prefetch_step;
  // Of int8:
  const RowScale* row_scales = nullptr;  ///< [rows]
  const float* scales = nullptr;         ///< [panel_width]
  const int32_t* weight_sums = nullptr;  ///< [panel_width]
};

using TileFunction = void (*)(const Tile& tile);

/// Rows of float32 that become rows as they are multiplied.
struct RowsToRound {
  const float* from;  ///< [rows, count]
  int64_t stride, rows, count;
  void* to;
  int64_t to_stride;
  int64_t filled;              ///< count and zeros behind it
  RowScale* scales = nullptr;  ///< [rows]; null: they have none
};

/// A panel of float32 numbers, [inputs, panel_width], and its rounded copy,
/// [filled / 2, panel_width, 2], with zeros behind the inputs.
struct PanelToRound {
  const float* from;
  int64_t inputs, filled;
  uint16_t* to;
};

struct Kernel {
  const char* name;
  Instructions needs;
  int panel_width;
  int tile_rows;            ///< of a full tile
  int value_bytes;          ///< of a number of a row
  int inputs_together = 1;  ///< rows are filled up to a multiple, with zeros
  int inputs_a_step = 1;    ///< with each of which Tile.prefetch_step bytes are asked for
  /// [tile_rows], for 1, 2, … rows; of panels in this storage, else in the format's own.
  const TileFunction* tiles;
  const TileFunction* float16_tiles = nullptr;
  const TileFunction* bfloat16_tiles = nullptr;
  /// Null: rows are multiplied as they are. A row of int8 with a value that is not finite gets the
  /// scale NaN.
  void (*round_rows)(const RowsToRound& rows) = nullptr;
  /// Rows of scores, count a multiple of two vectors: e to the power of what a score lies below the
  /// row's highest, rounded. sums: [rows], of these as they were before. Null: round_rows rounds
  /// them.
  void (*round_exponentials)(const RowsToRound& scores, float* sums) = nullptr;
  /// Rounds the keys or values of attention. Null if and only if attention does not use the format,
  /// or multiplies numbers as they are.
  void (*round_panel)(const PanelToRound& panel) = nullptr;

  TileFunction tile(int64_t rows, Storage storage) const {
    const TileFunction* of_rows = nullptr;
    if (storage == Storage::kFloat16) of_rows = float16_tiles;
    if (storage == Storage::kBFloat16) of_rows = bfloat16_tiles;
    return (of_rows != nullptr ? of_rows : tiles)[rows - 1];
  }
};

extern const Kernel kFloat32Portable, kInt8Portable, kBFloat16Portable;
#if defined(__x86_64__)
extern const Kernel kFloat32Avx2, kFloat32Avx512;
extern const Kernel kInt8Avx2, kInt8Avx512, kBFloat16Avx512;
#endif

}  // namespace kernels
