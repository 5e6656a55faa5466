// The functions of one instruction set for the matrix multiplications of one number format.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu.h"
#include "kernels/matmul.h"
#include "matmul/tiling.h"

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
  /// A tile reads and multiplies a multiple of so many rows, whatever their number.
  int row_step = 1;
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
  /// Called before the first and after the last tile of a multiplication, see UsedKernel. Null:
  /// nothing is needed.
  void (*begin)() = nullptr;
  void (*end)() = nullptr;
  /// Kernel for attention in the same format. Null: this one.
  const Kernel* for_attention = nullptr;

  TileFunction tile(int64_t rows, Storage storage) const {
    const TileFunction* of_rows = nullptr;
    if (storage == Storage::kFloat16) of_rows = float16_tiles;
    if (storage == Storage::kBFloat16) of_rows = bfloat16_tiles;
    return (of_rows != nullptr ? of_rows : tiles)[rows - 1];
  }
};

/// Rows of the next tile of `left` rows that `tiles` tiles multiply. Tiles have equal size: a small
/// remainder would cost almost as much as a full tile. With a row_step it costs less, and only the
/// last tile has another size.
inline int64_t rows_of_tile(const Kernel& kernel, int64_t left, int64_t tiles) {
  return kernel.row_step > 1 ? std::min<int64_t>(kernel.mr, left) : ceil_divide(left, tiles);
}

/// Prepares the calling thread for the tiles of a kernel during its lifetime.
class UsedKernel {
 public:
  explicit UsedKernel(const Kernel& kernel) : end_(kernel.end) {
    if (kernel.begin != nullptr) kernel.begin();
  }
  UsedKernel(const UsedKernel&) = delete;
  UsedKernel& operator=(const UsedKernel&) = delete;
  ~UsedKernel() {
    if (end_ != nullptr) end_();
  }

 private:
  void (*end_)();
};

extern const Kernel kFloat32Portable, kInt8Portable, kInt8VnniPortable, kBFloat16Portable;
#if defined(__x86_64__)
extern const Kernel kFloat32Avx2, kFloat32Avx512;
extern const Kernel kInt8Avx2, kInt8Avx512, kInt8VnniAvx512, kBFloat16Avx512;
extern const Kernel kInt8Amx, kInt8VnniAmx, kBFloat16Amx;
#endif

}  // namespace kernels
