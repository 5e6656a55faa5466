// The tile of every int8 kernel, written once; see tiles.h for why nothing here is shared.
#pragma once

#include "int8_kernel.h"
#include "lanes.h"

namespace gemm {
namespace {

/// What sums are scaled by, of the outputs of one vector.
template <class Simd>
class OutputScales {
 public:
  using Integers = Simd::Integers;

  OutputScales(const Int8Tile& tile, int half)
      : first_(half * Simd::kLanes),
        weight_sums_(Simd::load(tile.weight_sums + first_)),
        scales_(Simd::load(tile.scales + first_)),
        bias_(Simd::load(tile.bias + first_)) {}

  /// A row's sums become its result.
  void store(const Int8Tile& tile, int64_t row, Integers sums) const {
    const RowScale& scale = tile.row_scales[row];
    const Integers sum = sums - scale.zero_point * weight_sums_;
    Simd::store(tile.c + row * tile.c_stride + first_,
                Simd::to_float(sum) * (scale.scale * scales_) + bias_);
  }

 private:
  int first_;
  Integers weight_sums_;
  Simd::Floats scales_, bias_;
};

/// Simd: vectors of kLanes 32-bit sums, each of 4 products, and of as many floats. Its Partial
/// takes the products of kGroupsTogether groups before they come to the sums.
template <class Simd, int kRows>
void compute_int8_tile(const Int8Tile& tile) {
  using Integers = Simd::Integers;
  constexpr int kLanes = Simd::kLanes;
  constexpr int64_t kVectorBytes = int64_t{kLanes} * kGroup;
  const int8_t* weights = tile.panel;
  const char* prefetch = tile.prefetch;
  Integers sums[kRows][2];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) sums[row][0] = sums[row][1] = Integers{};
  for (int64_t k = 0; k < tile.inputs; k += kInputsTogether) {
    typename Simd::Partial partial[kRows][2];
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      partial[row][0] = Simd::begin(sums[row][0]);
      partial[row][1] = Simd::begin(sums[row][1]);
    }
#pragma GCC unroll 8
    for (int64_t group = 0; group < kGroupsTogether; ++group) {
      __builtin_prefetch(prefetch, 0, 2);
      prefetch += tile.prefetch_step;
      const Integers left = Simd::load(weights);
      const Integers right = Simd::load(weights + kVectorBytes);
      weights += 2 * kVectorBytes;
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
        int32_t four;
        __builtin_memcpy(&four, tile.a + row * tile.a_stride + k + group * kGroup, sizeof four);
        const Integers values = Simd::broadcast(four);
        partial[row][0] = Simd::add_products(partial[row][0], values, left);
        partial[row][1] = Simd::add_products(partial[row][1], values, right);
      }
    }
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      sums[row][0] = Simd::end(sums[row][0], partial[row][0]);
      sums[row][1] = Simd::end(sums[row][1], partial[row][1]);
    }
  }
#pragma GCC unroll 2
  for (int half = 0; half < 2; ++half) {
    const OutputScales<Simd> outputs(tile, half);
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) outputs.store(tile, row, sums[row][half]);
  }
}

/// See Int8Kernel.
template <class Simd>
RowScale quantize_row(const float* from, uint8_t* to, int64_t count) {
  using Floats = Simd::Floats;
  constexpr int kLanes = Simd::kLanes;
  // Of 0 and the values.
  Floats low{}, high{}, poison{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Floats values = Simd::load(from + i);
    low = Simd::min(values, low);
    high = Simd::max(values, high);
    poison += values * 0.0F;  // NaN when one of them is not finite
  }
  float lowest = lowest_of<kLanes>(low), highest = highest_of<kLanes>(high);
  float not_finite = sum_of<kLanes>(poison);
  for (int64_t k = i; k < count; ++k) {
    lowest = from[k] < lowest ? from[k] : lowest;
    highest = from[k] > highest ? from[k] : highest;
    not_finite += from[k] * 0.0F;
  }
  // Of a range so small that its inverse were infinite, or 0, fewer than 128 steps are used.
  const float step = (highest - lowest) / kMostValue;
  const float scale = (step > kLeastScale ? step : kLeastScale) + not_finite;
  const float inverse = scale > 0 ? 1 / scale : 0;  // 0 of NaN
  // Rounded by adding a half and cutting off the rest: nothing here is negative.
  // NOLINTNEXTLINE(bugprone-incorrect-roundings)
  const int32_t zero_point = scale > 0 ? static_cast<int32_t>(-lowest * inverse + 0.5F) : 0;
  const float offset = static_cast<float>(zero_point) + 0.5F;
  for (i = 0; i + kLanes <= count; i += kLanes) {
    // A maximum of NaN and 0 is 0.
    const Floats values = Simd::max(Simd::load(from + i) * inverse + offset, Floats{});
    Simd::store_bytes(to + i, Simd::min(values, Floats{} + kMostValue));
  }
  for (; i < count; ++i) {
    const float value = from[i] * inverse + offset;
    to[i] = static_cast<uint8_t>(value > 0 ? (value < kMostValue ? value : kMostValue) : 0);
  }
  return {.scale = scale, .zero_point = zero_point};
}

}  // namespace
}  // namespace gemm
