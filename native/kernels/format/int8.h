// The tile of every int8 kernel; see tile.h for why nothing here is shared.
#pragma once

#include "format/tile.h"
#include "processor/lanes.h"

namespace kernels {
namespace {

/// Integers that one instruction multiplies and adds up.
constexpr int kGroup = 4;

/// AVX2 adds up the products of four groups in 16 bits, those of a group in two lanes, before it
/// widens them. Rows are filled up to a multiple.
constexpr int kGroupsTogether = 4;
constexpr int kInputsTogether = kGroup * kGroupsTogether;
constexpr int kLanesOfGroup = 2;

/// Values are whole numbers from 0 on, weights have a sign. The weights whose products meet in a
/// lane are so small together that it cannot overflow, whatever the values are.
constexpr int kMaxValue = 127;
constexpr int kMaxWeight = 127;
constexpr int kMaxInLane = INT16_MAX / kMaxValue;

/// Inputs of a product whose sums always fit into 32 bits: 524,304. Of kInputsTogether weights,
/// those of each lane are kMaxInLane together at most.
constexpr int64_t kMaxInputs =
    int64_t{INT32_MAX} / (kMaxValue * kLanesOfGroup * kMaxInLane) * kInputsTogether;

/// Of values and of weights: the smallest float32 with all of its bits. What is below has no finite
/// inverse, or rounds so much that a quotient would not fit into 8 bits.
constexpr float kLeastScale = 0x1p-126F;

/// What sums are scaled by, of the outputs of one vector.
template <class Simd>
class OutputScales {
 public:
  using Integers = Simd::Integers;

  OutputScales(const Tile& tile, int half)
      : first_(half * Simd::kLanes),
        weight_sums_(Simd::load(tile.weight_sums + first_)),
        scales_(Simd::load(tile.scales + first_)),
        bias_(Simd::load(tile.bias + first_)) {}

  /// A row's sums become its result.
  void store(const Tile& tile, int64_t row, Integers sums) const {
    const RowScale& scale = tile.row_scales[row];
    const Integers sum = sums - scale.zero_point * weight_sums_;
    Simd::store(tile.c + row * tile.c_stride + first_,
                Simd::to_float(sum) * (scale.scale * scales_) + bias_);
  }

 private:
  int first_;
  Integers weight_sums_;
  Simd::Vector scales_, bias_;
};

/// What a Product (tile.h) of int8 has for sums.
template <class Simd>
struct IntegerSums {
  using Number = uint8_t;
  using Weight = int8_t;
  using Sum = Simd::Integers;
  static constexpr int kLanes = Simd::kLanes;
  static constexpr int kGroup = kernels::kGroup;
  static constexpr int kGroupsTogether = kernels::kGroupsTogether;

  static Sum first(const Tile&, int) { return Sum{}; }

  template <int kRows>
  static void store(const Tile& tile, const Sum (&sums)[kRows][2]) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const OutputScales<Simd> outputs(tile, half);
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) outputs.store(tile, row, sums[row][half]);
    }
  }

  static Sum load(const Weight* from) { return Simd::load(from); }
  static Sum broadcast(const Number* from) {
    int32_t four;
    __builtin_memcpy(&four, from, sizeof four);
    return Simd::broadcast(four);
  }

  // The sums themselves, of all but AVX2.
  using Partial = Sum;
  static Partial begin(Sum sums) { return sums; }
  static Sum end(Sum, Partial partial) { return partial; }
};

/// Whole numbers from 0 on, which a row's scale and zero point make values of.
template <class Simd>
RowScale quantize_row(const float* from, int64_t count, uint8_t* to) {
  using Floats = Simd::Vector;
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
  const float step = (highest - lowest) / kMaxValue;
  const float scale = (step > kLeastScale ? step : kLeastScale) + not_finite;
  const float inverse = scale > 0 ? 1 / scale : 0;  // 0 of NaN
  // Rounded by adding a half and cutting off the rest: nothing here is negative.
  // NOLINTNEXTLINE(bugprone-incorrect-roundings)
  const int32_t zero_point = scale > 0 ? static_cast<int32_t>(-lowest * inverse + 0.5F) : 0;
  const float offset = static_cast<float>(zero_point) + 0.5F;
  for (i = 0; i + kLanes <= count; i += kLanes) {
    // A maximum of NaN and 0 is 0.
    const Floats values = Simd::max(Simd::load(from + i) * inverse + offset, Floats{});
    Simd::store_bytes(to + i, Simd::min(values, Floats{} + kMaxValue));
  }
  for (; i < count; ++i) {
    const float value = from[i] * inverse + offset;
    to[i] = static_cast<uint8_t>(value > 0 ? (value < kMaxValue ? value : kMaxValue) : 0);
  }
  return {.scale = scale, .zero_point = zero_point};
}

template <class Simd, class Product, int kRows>
constexpr Kernel int8_kernel(const char* name, Instructions needs) noexcept {
  return {.name = name,
          .needs = needs,
          .panel_width = 2 * Simd::kLanes,
          .tile_rows = kRows,
          .value_bytes = 1,
          .inputs_together = kInputsTogether,
          .inputs_a_step = kGroup,
          .tiles = kTiles<Product, kRows>.of_rows,
          .round_rows = round_each<uint8_t, quantize_row<Simd>>};
}

}  // namespace
}  // namespace kernels
