// The tile of every kernel, written once. Included by files that are compiled for different
// instructions, so everything here has internal linkage and nothing of the standard library's inline
// code is used: the linker would be free to keep the copy that not every processor can run.
#pragma once

#include "kernel.h"

namespace gemm {
namespace {

/// Simd: the vector type `Vector` of kLanes floats; load, store, broadcast. Weight: its stored type,
/// and load of kLanes of them. Two vectors side by side make a panel; kRows × 2 accumulators stay in
/// registers while the panel streams by.
template <class Simd, class Weight, int kRows>
void compute_tile(const Tile& tile) {
  using Vector = typename Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  const auto* weights = static_cast<const typename Weight::Stored*>(tile.panel);
  const float* a = tile.a;
  const int64_t stride = tile.a_stride;
  Vector sums[kRows][2];
  const Vector bias[2] = {Simd::load(tile.bias), Simd::load(tile.bias + kLanes)};
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    sums[row][0] = bias[0];
    sums[row][1] = bias[1];
  }
  for (int64_t k = 0; k < tile.inputs; ++k) {
    const Vector left = Weight::load(weights);
    const Vector right = Weight::load(weights + kLanes);
    weights += 2 * kLanes;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const Vector factor = Simd::broadcast(a + row * stride + k);
      sums[row][0] += factor * left;
      sums[row][1] += factor * right;
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    Simd::store(tile.c + row * tile.c_stride, sums[row][0]);
    Simd::store(tile.c + row * tile.c_stride + kLanes, sums[row][1]);
  }
}

/// Tiles of 1 … kRows rows.
template <class Simd, class Weight, int kRows>
struct TilesUpTo;

#define GEMM_TILE(rows) compute_tile<Simd, Weight, rows>

template <class Simd, class Weight>
struct TilesUpTo<Simd, Weight, 6> {
  static constexpr TileFunction kTiles[] = {GEMM_TILE(1), GEMM_TILE(2), GEMM_TILE(3),
                                            GEMM_TILE(4), GEMM_TILE(5), GEMM_TILE(6)};
};

template <class Simd, class Weight>
struct TilesUpTo<Simd, Weight, 12> {
  static constexpr TileFunction kTiles[] = {
      GEMM_TILE(1), GEMM_TILE(2), GEMM_TILE(3), GEMM_TILE(4),  GEMM_TILE(5),  GEMM_TILE(6),
      GEMM_TILE(7), GEMM_TILE(8), GEMM_TILE(9), GEMM_TILE(10), GEMM_TILE(11), GEMM_TILE(12)};
};

#undef GEMM_TILE

template <class Simd, class Float32, class Float16, class BFloat16, int kRows>
constexpr Kernel make_kernel(const char* name, bool (*is_supported)()) {
  return {.name = name,
          .is_supported = is_supported,
          .panel_width = 2 * Simd::kLanes,
          .tile_rows = kRows,
          .float32_tiles = TilesUpTo<Simd, Float32, kRows>::kTiles,
          .float16_tiles = TilesUpTo<Simd, Float16, kRows>::kTiles,
          .bfloat16_tiles = TilesUpTo<Simd, BFloat16, kRows>::kTiles};
}

}  // namespace
}  // namespace gemm
