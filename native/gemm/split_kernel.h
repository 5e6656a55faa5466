// What one processor family brings to products of float32 numbers that are split into bfloat16.
#pragma once

#include <cstdint>

#include "gemm/instructions.h"
#include "gemm/split_linear.h"

namespace gemm {

/// Products of a part of x and a part of the weights, in the order in which they are added up.
struct PartProducts {
  struct Product {
    int x, weight;
  };
  int count;
  Product products[6];
};

/// All that matter: where a part is of the size 2⁻⁹ᵏ, those of which the sizes make up less than
/// 2⁻⁹ ˣ parts are left out. Small ones come first, and each shares a factor with the one before.
constexpr PartProducts part_products(int x_parts, int weight_parts) {
  if (x_parts == 2) {
    if (weight_parts == 1) return {2, {{1, 0}, {0, 0}}};
    return {3, {{1, 0}, {0, 0}, {0, 1}}};
  }
  if (weight_parts == 1) return {3, {{2, 0}, {1, 0}, {0, 0}}};
  if (weight_parts == 2) return {5, {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}};
  return {6, {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}};
}

/// What a weight of this storage is made of, where x has so many parts.
constexpr int weight_parts(Storage storage, Parts x_parts) {
  const int most = static_cast<int>(x_parts);
  switch (storage) {
    case Storage::kFloat32:
      return most;
    case Storage::kFloat16:
      return 2;  // 11 bits
    case Storage::kBFloat16:
      return 1;
  }
  return most;
}

/// One tile: c[rows, panel_width] = a[rows, inputs] × panel[inputs, panel_width] + bias, where a
/// and panel are sums of parts, each part of the panel laid out as BFloat16Tile's.
struct SplitTile {
  const uint16_t* a;
  int64_t a_part_size;
  int64_t a_stride;
  int a_parts;
  const uint16_t* panel;
  int64_t panel_part_size;
  int panel_parts;
  int64_t inputs;     ///< a multiple of the kernel's inputs_together
  const float* bias;  ///< [panel_width]
  float* c;
  int64_t c_stride;
  int64_t rows;
  const char* prefetch;  ///< see Tile; with each inputs_together
  int64_t prefetch_step;
};

/// A panel as it is stored, [inputs, panel_width], and where its parts go: each
/// [filled / 2, panel_width, 2], with zeros behind the inputs.
struct StoredPanel {
  const void* stored;
  Storage storage;
  int64_t inputs, filled;
  uint16_t* to;
  int parts;
};

struct SplitKernel {
  const char* name;
  Instructions needs;
  int panel_width;
  int tile_rows;
  int row_step;         ///< see BFloat16Kernel
  int inputs_together;  ///< the same
  void (*compute)(const SplitTile& tile);
  /// from[count] to parts, each part_size numbers behind the one before.
  void (*split)(const float* from, int64_t count, Parts parts, uint16_t* to, int64_t part_size);
  void (*split_panel)(const StoredPanel& panel);
  void (*begin)(int64_t rows) = nullptr;  ///< see BFloat16Kernel
  void (*end)() = nullptr;
};

extern const SplitKernel kPortableSplitKernel;
#if defined(__x86_64__)
extern const SplitKernel kSplitAmxKernel;
#endif

/// As best_kernel().
const SplitKernel& best_split_kernel();

}  // namespace gemm
