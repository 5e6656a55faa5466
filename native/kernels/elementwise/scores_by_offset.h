// What is added to a head's scores by the offset of a key from a query. Included by files that are
// compiled for different instructions: see format/tile.h.
#pragma once

#include <utility>

#include "elementwise/elementwise.h"
#include "linear/tiling.h"

// Lanes have numbers from 0 on: their bits are those of unsigned ones.
// NOLINTBEGIN(bugprone-signed-bitwise)
namespace kernels {
namespace {

/// See Elementwise. The rows of a vector of columns lie within a vector of rows.
template <class Simd>
void add_by_row(float* scores, const float* by_row, const int32_t* rows, int64_t count) {
  for (int64_t j = 0; j < count; j += Simd::kLanes) {
    const int32_t first = rows[j];
    const auto lanes = Simd::load(static_cast<const void*>(rows + j)) - Simd::broadcast(first);
    const auto values = Simd::permute(Simd::load(by_row + first), lanes);
    Simd::store(scores + j, Simd::load(scores + j) + values);
  }
}

/// All bits of those lanes whose numbers have this bit, none of the others.
template <class Simd, int kBit, int... kLane>
Simd::Integers lanes_with(std::integer_sequence<int, kLane...>) {
  using Integers = Simd::Integers;
  return Integers{((kLane & kBit) != 0 ? -1 : 0)...};
}

/// rows[i] becomes in each lane what rows[i + lane] has there: by its bits, the lowest first. So
/// many rows are wanted; kLanes − 1 more are read.
template <class Simd, int kBit = 1>
void shear(typename Simd::Vector* rows, int64_t wanted) {
  if constexpr (kBit < Simd::kLanes) {
    const auto shifted = lanes_with<Simd, kBit>(std::make_integer_sequence<int, Simd::kLanes>{});
    const int64_t needed = wanted + Simd::kLanes - 2 * kBit;
    for (int64_t i = 0; i < needed; ++i) rows[i] = shifted ? rows[i + kBit] : rows[i];
    shear<Simd, 2 * kBit>(rows, wanted);
  }
}

/// See Elementwise.
template <class Simd>
void add_diagonals(float* scores, int64_t stride, int64_t rows, const float* ring, int64_t first) {
  constexpr int64_t kLanes = Simd::kLanes, kWidth = 2 * kLanes;
  for (int64_t half = 0; half < kWidth; half += kLanes) {
    typename Simd::Vector sheared[kMaxTileRows + kLanes];
    const int64_t lowest = first + half - (rows - 1);
    for (int64_t i = 0; i < rows + kLanes - 1; ++i) {
      const int64_t offset = (lowest + i) & (kOffsetsKept - 1);
      sheared[i] = Simd::load(ring + offset * kWidth + half);
    }
    shear<Simd>(sheared, rows);
    float* to = scores + half;
    for (int64_t i = rows - 1; i >= 0; --i, to += stride) {
      Simd::store(to, Simd::load(to) + sheared[i]);
    }
  }
}

}  // namespace
}  // namespace kernels
// NOLINTEND(bugprone-signed-bitwise)
