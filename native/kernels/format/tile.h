// The tile of every kernel, written once. Included by files that are compiled for different
// instructions, so everything here has internal linkage and nothing of the standard library's
// inline code is used: the linker would be free to keep the copy that not every processor can run.
#pragma once

#include <utility>

#include "format/kernel.h"
#include "linear/tiling.h"

namespace kernels {
namespace {

/// Sums in float32, which begin as the bias: what a Product (below) of any but int8 has for sums.
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

  // The sums themselves.
  static constexpr int kGroupsTogether = 1;
  using Partial = Sum;
  static Partial begin(Sum sum) { return sum; }
  static Sum end(Sum, Partial partial) { return partial; }
};

/// Product:
///   Number, Weight: of rows and of panels, as they lie in memory; kGroup of them side by side
///   Sum, kLanes: vectors of sums; first(), store(): what they begin as and become
///   Partial, kGroupsTogether: what takes so many groups before they come to the sums; begin(),
///     end()
///   load(), broadcast(), add_product(): a vector of weights, a group of a row, and their product
/// Two vectors side by side make a panel; kRows × 2 sums stay in registers while it streams by.
template <class Product, int kRows>
void compute_tile(const Tile& tile) {
  constexpr int kGroup = Product::kGroup, kVector = Product::kLanes * kGroup;
  const auto* weights = static_cast<const Product::Weight*>(tile.panel);
  const auto* a = static_cast<const Product::Number*>(tile.a);
  // A step may read more than one line, and so may have to ask for as much.
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
  for (int64_t k = 0; k < tile.inputs; k += int64_t{kGroup} * Product::kGroupsTogether) {
    typename Product::Partial partial[kRows][2];
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      partial[row][0] = Product::begin(sums[row][0]);
      partial[row][1] = Product::begin(sums[row][1]);
    }
#pragma GCC unroll 8
    for (int group = 0; group < Product::kGroupsTogether; ++group, a += kGroup) {
      asm("" : "+r"(a));  // else GCC keeps a pointer for each row, more than there are registers
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

/// Implements Kernel::round_rows. round_row(from, count, to) rounds one row and returns its scale.
template <class Number, RowScale (*round_row)(const float*, int64_t, Number*)>
void round_each(const RowsToRound& rows) {
  auto* to = static_cast<Number*>(rows.to);
  const float* from = rows.from;
  const int64_t count = rows.count, missing = rows.filled - count;
  for (int64_t row = 0; row < rows.rows; ++row, from += rows.stride, to += rows.to_stride) {
    const RowScale scale = round_row(from, count, to);
    if (rows.scales != nullptr) rows.scales[row] = scale;
    if (missing > 0) {
      __builtin_memset(to + count, 0, static_cast<size_t>(missing) * sizeof(Number));
    }
  }
}

/// Tiles of 1 … kRows rows.
template <int kRows>
struct Tiles {
  TileFunction of_rows[kRows];
};

template <class Product, int... kIndex>
constexpr Tiles<sizeof...(kIndex)> tiles_of(std::integer_sequence<int, kIndex...>) noexcept {
  return {{compute_tile<Product, kIndex + 1>...}};
}

template <class Product, int kRows>
  requires(kRows <= kMaxTileRows)
constexpr Tiles<kRows> kTiles = tiles_of<Product>(std::make_integer_sequence<int, kRows>{});

}  // namespace
}  // namespace kernels
