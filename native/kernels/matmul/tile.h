// The tile function of all kernels. Included by files that are compiled for different instruction
// sets. Everything here has internal linkage, and no inline function of the standard library is
// used: otherwise the linker might keep a copy that not every processor can run.
#pragma once

#include <utility>

#include "matmul/kernel.h"
#include "matmul/tiling.h"

namespace kernels {
namespace {

/// Sums in float32 that start with the bias, for a Product (below) of every format except int8.
template <class Simd>
struct FloatSums {
  static constexpr int kLanes = Simd::kLanes;
  using Sum = Simd::Vector;

  static Sum first(const Tile& tile, int half) {
    return Simd::load(tile.bias + int64_t{half} * kLanes);
  }

  template <int kRows>
  static void store(const Tile& tile, const Sum (&sums)[kRows][2]) {
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      Simd::store(tile.c + row * tile.c_stride, sums[row][0]);
      Simd::store(tile.c + row * tile.c_stride + kLanes, sums[row][1]);
    }
  }

  // Partial sums are the sums themselves.
  static constexpr int kGroupsPerPartial = 1;
  using Partial = Sum;
  static Partial begin(Sum sum) { return sum; }
  static Sum end(Sum, Partial partial) { return partial; }
};

/// Multiplies kRows rows with a panel, which is two vectors wide. kRows × 2 sums stay in registers
/// while the panel is read. `Product` defines the format:
///   Number, Weight: stored types of rows and panels, in groups of kGroup
///   Sum, kLanes: vector of sums; first() returns the initial sums, store() stores the results
///   Partial, kGroupsPerPartial: sum of so many groups; begin() starts it, end() adds it to a Sum
///   load(), broadcast(), add_product(): loads weights, loads a group of a row, adds their product
template <class Product, int kRows>
void compute_tile(const Tile& tile) {
  constexpr int kGroup = Product::kGroup, kVector = Product::kLanes * kGroup;
  const auto* weights = static_cast<const Product::Weight*>(tile.panel);
  const auto* a = static_cast<const Product::Number*>(tile.a);
  // A step may read more than one cache line, and then prefetches as many.
  constexpr int64_t kStepBytes = int64_t{2} * kVector * sizeof(*weights);
  constexpr int64_t kLines = (kStepBytes + kLineBytes - 1) / kLineBytes;
  const char* prefetch = tile.prefetch;
  const int64_t stride = tile.a_stride, prefetch_step = tile.prefetch_step / kLines;
  typename Product::Sum sums[kRows][2];
  const typename Product::Sum first[2] = {Product::first(tile, 0), Product::first(tile, 1)};
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    sums[row][0] = first[0];
    sums[row][1] = first[1];
  }
  for (int64_t k = 0; k < tile.inputs; k += int64_t{kGroup} * Product::kGroupsPerPartial) {
    typename Product::Partial partial[kRows][2];
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      partial[row][0] = Product::begin(sums[row][0]);
      partial[row][1] = Product::begin(sums[row][1]);
    }
#pragma GCC unroll 8
    for (int group = 0; group < Product::kGroupsPerPartial; ++group, a += kGroup) {
      asm("" : "+r"(a));  // prevents GCC from keeping a pointer for each row, which would spill
      const auto left = Product::load(weights);
      const auto right = Product::load(weights + kVector);
      weights += 2 * kVector;
#pragma GCC unroll 2
      for (int64_t line = 0; line < kLines; ++line, prefetch += prefetch_step) {
        __builtin_prefetch(prefetch, 0, 2);
      }
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
        const auto factor = Product::broadcast(a + row * stride);
        partial[row][0] = Product::add_product(partial[row][0], factor, left);
        partial[row][1] = Product::add_product(partial[row][1], factor, right);
      }
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      sums[row][0] = Product::end(sums[row][0], partial[row][0]);
      sums[row][1] = Product::end(sums[row][1], partial[row][1]);
    }
  }
  Product::store(tile, sums);
}

/// Implements Kernel::pack_a. round_row(from, count, to) converts one row and returns its scale.
template <class Number, RowScale (*round_row)(const float*, int64_t, Number*)>
void pack_rows(const RowsToPack& rows) {
  auto* to = static_cast<Number*>(rows.to);
  const float* from = rows.from;
  const int64_t count = rows.count, missing = rows.padded - count;
  for (int64_t row = 0; row < rows.rows; ++row, from += rows.stride, to += rows.to_stride) {
    const RowScale scale = round_row(from, count, to);
    if (rows.scales != nullptr) rows.scales[row] = scale;
    if (missing > 0) {
      __builtin_memset(to + count, 0, static_cast<size_t>(missing) * sizeof(Number));
    }
  }
}

/// Tile functions for 1 … kRows rows.
template <int kRows>
struct Tiles {
  TileFunction of_rows[kRows];
};

template <class Product, int... kIndex>
constexpr Tiles<sizeof...(kIndex)> tiles_of(std::integer_sequence<int, kIndex...>) noexcept {
  return {{compute_tile<Product, kIndex + 1>...}};
}

template <class Product, int kRows>
  requires(kRows <= kMaxMr)
constexpr Tiles<kRows> kTiles = tiles_of<Product>(std::make_integer_sequence<int, kRows>{});

}  // namespace
}  // namespace kernels
