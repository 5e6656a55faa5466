// Addition of the relative position terms to the scores of a head. Included by files that are
// compiled for different instruction sets, see matmul/tile.h.
#pragma once

#include <utility>

#include "elementwise/elementwise.h"
#include "matmul/tiling.h"

// Lane numbers are not negative, so signed bit operations are safe.
// NOLINTBEGIN(bugprone-signed-bitwise)
namespace kernels {
namespace {

/// See Elementwise::add_by_index. The indices of a vector of columns span at most one vector.
template <class Simd>
void add_by_index(float* scores, const float* by_row, const int32_t* rows, int64_t count) {
  for (int64_t j = 0; j < count; j += Simd::kLanes) {
    const int32_t first = rows[j];
    const auto lanes = Simd::load(static_cast<const void*>(rows + j)) - Simd::broadcast(first);
    const auto values = Simd::permute(Simd::load(by_row + first), lanes);
    Simd::store(scores + j, Simd::load(scores + j) + values);
  }
}

/// Mask of the lanes whose number contains the bit kBit.
template <class Simd, int kBit, int... kLane>
Simd::Integers lanes_with(std::integer_sequence<int, kLane...>) {
  using Integers = Simd::Integers;
  return Integers{((kLane & kBit) != 0 ? -1 : 0)...};
}

/// Skews a matrix: lane l of rows[i] becomes lane l of rows[i + l], in one step for each bit of l.
/// Computes `count` rows and reads kLanes − 1 more.
template <class Simd, int kBit = 1>
void skew(typename Simd::Vector* rows, int64_t count) {
  if constexpr (kBit < Simd::kLanes) {
    const auto shifted = lanes_with<Simd, kBit>(std::make_integer_sequence<int, Simd::kLanes>{});
    const int64_t needed = count + Simd::kLanes - 2 * kBit;
    for (int64_t i = 0; i < needed; ++i) rows[i] = shifted ? rows[i + kBit] : rows[i];
    skew<Simd, 2 * kBit>(rows, count);
  }
}

/// See Elementwise::add_skewed.
template <class Simd>
void add_skewed(float* scores, int64_t stride, int64_t rows, const float* ring, int64_t first) {
  constexpr int64_t kLanes = Simd::kLanes, kWidth = 2 * kLanes;
  for (int64_t half = 0; half < kWidth; half += kLanes) {
    typename Simd::Vector skewed[kMaxMr + kLanes];
    const int64_t lowest = first + half - (rows - 1);
    for (int64_t i = 0; i < rows + kLanes - 1; ++i) {
      const int64_t offset = (lowest + i) & (kRingRows - 1);
      skewed[i] = Simd::load(ring + offset * kWidth + half);
    }
    skew<Simd>(skewed, rows);
    float* to = scores + half;
    for (int64_t i = rows - 1; i >= 0; --i, to += stride) {
      Simd::store(to, Simd::load(to) + skewed[i]);
    }
  }
}

}  // namespace
}  // namespace kernels
// NOLINTEND(bugprone-signed-bitwise)
