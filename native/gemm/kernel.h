// What one processor family brings: tiles of a matrix product, and what is done to rows.
#pragma once

#include <cstdint>

#include "gemm/attention.h"
#include "gemm/instructions.h"
#include "gemm/layer_norm.h"
#include "gemm/packed_linear.h"

namespace gemm {

/// One tile: c[rows, panel_width] = a[rows, inputs] × panel[inputs, panel_width] + bias.
struct Tile {
  const float* a;
  int64_t a_stride;
  const void* panel;
  int64_t inputs;
  const float* bias;  ///< [panel_width]
  float* c;
  int64_t c_stride;
  /// What will be read next: so many bytes of it are asked for with each of the inputs.
  const char* prefetch;
  int64_t prefetch_step;
};

using TileFunction = void (*)(const Tile& tile);

/// Of values [rows, columns] in place, stride floats from row to row; columns a multiple of half a
/// panel_width, which is one vector.
using ActivationFunction = void (*)(float* values, int64_t rows, int64_t columns, int64_t stride);

/// Of each row of scores [rows, count] in place, stride floats from row to row, count a multiple of
/// panel_width: e to the power of what a score lies below the row's highest. sums: [rows], of
/// these.
using ExponentialsFunction = void (*)(float* scores, int64_t rows, int64_t stride, int64_t count,
                                      float* sums);

struct Kernel {
  const char* name;
  Instructions needs;
  int panel_width;
  int tile_rows;                      ///< of a full tile
  const TileFunction* float32_tiles;  ///< [tile_rows], for 1, 2, … rows
  const TileFunction* float16_tiles;  ///< the same, weights stored in float16
  const TileFunction* bfloat16_tiles;
  ActivationFunction gelu;
  ExponentialsFunction exponentials;
  /// A head's keys, times its scale, to [panels of tokens, head_size, panel_width], and its values
  /// to [panels of the head, tokens, panel_width]; filled up with zeros.
  void (*pack_keys)(const AttentionHead& head, float* panels);
  void (*pack_values)(const AttentionHead& head, float* panels);
  void (*normalize)(const LayerNormRows& rows);

  const TileFunction* tiles(Storage storage) const {
    switch (storage) {
      case Storage::kFloat32:
        return float32_tiles;
      case Storage::kFloat16:
        return float16_tiles;
      case Storage::kBFloat16:
        return bfloat16_tiles;
    }
    return nullptr;
  }
};

extern const Kernel kPortableKernel;
#if defined(__x86_64__)
extern const Kernel kAvx2Kernel;
extern const Kernel kAvx512Kernel;
#endif

/// The fastest one that this processor runs; chosen at the first call.
const Kernel& best_kernel();

/// For panels of so many columns, which may be another kernel's: the fastest whose vectors fit.
ActivationFunction best_gelu(int64_t panel_width);

}  // namespace gemm
