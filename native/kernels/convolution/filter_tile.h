// The tile function of all filter kernels. Included by files that are compiled for different
// instruction sets, see matmul/tile.h.
#pragma once

#include <utility>

#include "convolution/filter_kernel.h"

namespace kernels {
namespace {

/// Adds the taps in order, so that all tiles compute a sample with the same bits.
template <class Simd, int kFilters, int kVectors>
void filter_tile(const FilterTile& tile) {
  using Vector = Simd::Vector;
  Vector sums[kFilters][kVectors];
#pragma GCC unroll 8
  for (int filter = 0; filter < kFilters; ++filter) {
    const Vector bias = Simd::broadcast(tile.bias + filter);
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) sums[filter][i] = bias;
  }
  const float* x[kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kVectors; ++i) x[i] = tile.x[i];
  const float* weights = tile.weights;
  for (int64_t tap = 0; tap < tile.taps; ++tap, weights += kFilters) {
    const int64_t offset = tile.offsets[tap];
    Vector samples[kVectors];
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) samples[i] = Simd::load(x[i] + offset);
#pragma GCC unroll 8
    for (int filter = 0; filter < kFilters; ++filter) {
      const Vector weight = Simd::broadcast(weights + filter);
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) sums[filter][i] += weight * samples[i];
    }
  }
#pragma GCC unroll 8
  for (int filter = 0; filter < kFilters; ++filter) {
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      const Vector sum = sums[filter][i];
      // The second operand is the result if one is NaN.
      const Vector result = tile.fuse_relu ? Simd::max(Vector{}, sum) : sum;
      Simd::store(tile.y[i] + filter * tile.y_stride, result);
    }
  }
}

template <class Simd, int kFilters, int kMaxSums, int... kIndex>
constexpr void add_tiles(FilterKernel& kernel, std::integer_sequence<int, kIndex...>) noexcept {
  // Larger tiles would not fit into the registers.
  (((kIndex + 1) * kFilters <= kMaxSums
        ? void(kernel.tiles[kFilters - 1][kIndex] = filter_tile < Simd, kFilters,
               (kIndex + 1) * kFilters <= kMaxSums ? kIndex + 1 : 1 >)
        : void()),
   ...);
}

template <class Simd, int kMaxSums, int... kIndex>
constexpr void add_all_tiles(FilterKernel& kernel, std::integer_sequence<int, kIndex...>) noexcept {
  (add_tiles<Simd, kIndex + 1, kMaxSums>(kernel, std::make_integer_sequence<int, kMaxVectors>{}),
   ...);
}

template <class Simd, int kTileFilters, int kMaxSums>
  requires(kTileFilters <= kMaxFilters)
constexpr FilterKernel filter_kernel(const char* name, Instructions needs) noexcept {
  FilterKernel kernel{.name = name,
                      .needs = needs,
                      .lanes = Simd::kLanes,
                      .max_filters = kTileFilters,
                      .max_sums = kMaxSums,
                      .tiles = {}};
  add_all_tiles<Simd, kMaxSums>(kernel, std::make_integer_sequence<int, kTileFilters>{});
  return kernel;
}

}  // namespace
}  // namespace kernels
