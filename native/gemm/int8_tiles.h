// The tile of every int8 kernel, written once; see tiles.h for why nothing here is shared.
#pragma once

#include <cstring>

#include "int8_kernel.h"

namespace gemm {
namespace {

/// Simd: vectors of kLanes 32-bit sums, each of 4 products.
template <class Simd, int kRows>
void compute_int8_tile(const Int8Tile& tile) {
  using Vector = typename Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  const int8_t* weights = tile.panel;
  const uint8_t* a = tile.a;
  const int64_t stride = tile.a_stride;
  Vector sums[kRows][2];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) sums[row][0] = sums[row][1] = Simd::zero();
  for (int64_t group = 0; group < tile.groups; ++group) {
    const Vector left = Simd::load(weights);
    const Vector right = Simd::load(weights + kLanes * kGroup);
    weights += 2 * kLanes * kGroup;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      int32_t four;
      __builtin_memcpy(&four, a + row * stride + group * kGroup, sizeof four);
      const Vector factor = Simd::broadcast(four);
      sums[row][0] = Simd::add_products(sums[row][0], factor, left);
      sums[row][1] = Simd::add_products(sums[row][1], factor, right);
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    Simd::store(tile.c + row * 2 * kLanes, sums[row][0]);
    Simd::store(tile.c + row * 2 * kLanes + kLanes, sums[row][1]);
  }
}

}  // namespace
}  // namespace gemm
