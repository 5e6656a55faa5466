// The functions of one instruction set for the matrix multiplications of one number format.
#pragma once

#include <cstdint>

#include "kernels/cpu.h"
#include "kernels/matmul.h"

namespace kernels {

/// Arguments of one tile: c[rows, nr] = a[rows, inputs] × panel[inputs, nr] + bias. The layout of
/// the panel is [inputs / group, nr, group]; a group is what one instruction multiplies and adds:
/// one float32, two bfloat16 values or four integers.
struct Tile {
  const void* a;
  int64_t a_stride;  ///< row stride in values
  const void* panel;
  int64_t inputs;     ///< a multiple of Kernel::kr
  const float* bias;  ///< [nr]
  float* c;
  int64_t c_stride;  ///< row stride in floats
  /// Memory that is read next: each k_step prefetches prefetch_step bytes of it.
  const char* prefetch;
  int64_t prefetch_step;
  // int8 only:
  const RowScale* row_scales = nullptr;  ///< [rows]
  const float* scales = nullptr;         ///< [nr]
  const int32_t* weight_sums = nullptr;  ///< [nr]; int8 attention: initial values of the sums
  bool accumulates = false;              ///< int8 attention: adds to c instead of the bias
};

using TileFunction = void (*)(const Tile& tile);

/// Arguments of Kernel::pack_a.
struct RowsToPack {
  const float* from;            ///< [rows, count]
  int64_t stride, rows, count;  ///< stride: row stride of `from` in floats
  void* to;                     ///< [rows, padded]
  int64_t to_stride;            ///< row stride in values
  int64_t padded;               ///< count, rounded up with zeros
  RowScale* scales = nullptr;   ///< [rows]; null: the format has no scales
};

/// Arguments of Kernel::pack_b_block: a panel of float32 values, [inputs, nr], and its rounded
/// copy, [padded / 2, nr, 2], with zeros after the inputs.
struct PanelToPack {
  const float* from;
  int64_t inputs, padded;
  uint16_t* to;
};

struct Int8Attention;

struct Kernel {
  const char* name;
  Instructions needs;
  int nr;           ///< columns of a panel: outputs
  int mr;           ///< maximum number of rows of a tile
  int value_bytes;  ///< size of a value of the left operand
  int kr = 1;       ///< rows of the left operand are zero-padded to a multiple
  int k_step = 1;   ///< inputs per prefetch of Tile::prefetch_step bytes
  /// [mr]: functions for 1, 2, … rows. float16_tiles and bfloat16_tiles read panels in this storage
  /// type; null: panels have the kernel's own format.
  const TileFunction* tiles;
  const TileFunction* float16_tiles = nullptr;
  const TileFunction* bfloat16_tiles = nullptr;
  /// Converts rows of the left operand. Null: rows are multiplied as they are. An int8 row with a
  /// value that is not finite gets the scale NaN.
  void (*pack_a)(const RowsToPack& rows) = nullptr;
  /// Softmax numerators: exp(score − row maximum), rounded to the kernel's format. `count` must be
  /// a multiple of two vectors. sinks, sums: see Elementwise::exponentials, the sums before
  /// rounding. Null: use Elementwise::exponentials, then pack_a.
  void (*pack_exponentials)(const RowsToPack& scores, const float* sinks, float* sums) = nullptr;
  /// Rounds a panel of keys or values of attention. Null for int8, and if the kernel multiplies
  /// float32 values as they are.
  void (*pack_b_block)(const PanelToPack& panel) = nullptr;
  const Int8Attention* int8_attention = nullptr;  ///< null except for int8

  TileFunction tile(int64_t rows, Storage storage) const {
    const TileFunction* of_rows = nullptr;
    if (storage == Storage::kFloat16) of_rows = float16_tiles;
    if (storage == Storage::kBFloat16) of_rows = bfloat16_tiles;
    return (of_rows != nullptr ? of_rows : tiles)[rows - 1];
  }
};

extern const Kernel kFloat32Portable, kInt8Portable, kInt8VnniPortable, kBFloat16Portable;
#if defined(__x86_64__)
extern const Kernel kFloat32Avx2, kFloat32Avx512;
extern const Kernel kInt8Avx2, kInt8Avx512, kInt8VnniAvx512, kBFloat16Avx512;
#endif

}  // namespace kernels
