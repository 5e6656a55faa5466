// The tile of every kernel, written once. Included by files that are compiled for different
// instructions, so everything here has internal linkage and nothing of the standard library's
// inline code is used: the linker would be free to keep the copy that not every processor can run.
#pragma once

#include "kernel.h"

namespace gemm {
namespace {

/// Simd: the vector type `Vector` of kLanes floats; load, store, broadcast. Weight: its stored
/// type, and load of kLanes of them. Two vectors side by side make a panel; kRows × 2 accumulators
/// stay in registers while the panel streams by.
template <class Simd, class Weight, int kRows>
void compute_tile(const Tile& tile) {
  using Vector = typename Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  const auto* weights = static_cast<const typename Weight::Stored*>(tile.panel);
  const float* a = tile.a;
  const char* prefetch = tile.prefetch;
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
    __builtin_prefetch(prefetch, 0, 2);
    prefetch += tile.prefetch_step;
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

/// e to the power of −x, x ≥ 0, within 2 units in the last place.
template <class Simd>
typename Simd::Vector exp_of_negative(typename Simd::Vector x) {
  using Vector = typename Simd::Vector;
  using Integers = typename Simd::Integers;
  constexpr float kMost = 87;  // beyond, the result would be subnormal
  constexpr float kLog2E = 1.44269504F;
  constexpr float kRounder = 0x1.8p23F;  // an added float is rounded to an integer by it
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr int kFractionBits = 23;
  x = x < kMost ? -x : Vector{} - kMost;
  const Vector rounded = x * kLog2E + kRounder;
  const Vector whole = rounded - kRounder;
  const Vector rest = (x - whole * kLn2High) - whole * kLn2Low;
  Vector power = rest * 1.9875691500e-4F + 1.3981999507e-3F;  // cephes, expf
  power = power * rest + 8.3334519073e-3F;
  power = power * rest + 4.1665795894e-2F;
  power = power * rest + 1.6666665459e-1F;
  power = power * rest + 5.0000001201e-1F;
  power = power * rest * rest + rest + 1.0F;
  return (Vector)((Integers)power + ((Integers)rounded << kFractionBits));
}

/// x Φ(x), the error function within 1.5e-7.
/// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
template <class Simd>
void compute_gelu(float* values, int64_t rows, int64_t stride) {
  using Vector = typename Simd::Vector;
  using Integers = typename Simd::Integers;
  constexpr int kSignBit = INT32_MIN;
  constexpr float kSqrtHalf = 0.707106781F;
  for (int64_t row = 0; row < rows; ++row) {
    for (float* at = values + row * stride; at < values + row * stride + 2 * Simd::kLanes;
         at += Simd::kLanes) {
      const Vector x = Simd::load(at);
      const Integers sign = (Integers)x & kSignBit;
      const Vector z = (Vector)((Integers)x ^ sign) * kSqrtHalf;
      const Vector t = 1.0F / (z * 0.3275911F + 1.0F);
      Vector sum = t * 1.061405429F - 1.453152027F;
      sum = sum * t + 1.421413741F;
      sum = sum * t - 0.284496736F;
      sum = sum * t + 0.254829592F;
      const Vector erf = 1.0F - sum * t * exp_of_negative<Simd>(z * z);
      Simd::store(at, 0.5F * x * (1.0F + (Vector)((Integers)erf | sign)));
    }
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
constexpr Kernel make_kernel(const char* name, bool (*is_supported)()) noexcept {
  return {.name = name,
          .is_supported = is_supported,
          .panel_width = 2 * Simd::kLanes,
          .tile_rows = kRows,
          .float32_tiles = TilesUpTo<Simd, Float32, kRows>::kTiles,
          .float16_tiles = TilesUpTo<Simd, Float16, kRows>::kTiles,
          .bfloat16_tiles = TilesUpTo<Simd, BFloat16, kRows>::kTiles,
          .gelu = compute_gelu<Simd>};
}

}  // namespace
}  // namespace gemm
