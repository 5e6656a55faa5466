// The tile of every int8 kernel. Included by files that are compiled for different instruction
// sets, see tile.h.
#pragma once

#include "attention/int8_kernel.h"
#include "cpu/reduce.h"
#include "matmul/tile.h"

namespace kernels {
namespace {

/// Number of integers that one instruction multiplies and adds.
constexpr int kGroup = 4;

/// Number of groups whose products AVX2 sums in 16 bits before it widens the sums. Each group
/// occupies two lanes. Rows are zero-padded to a multiple.
constexpr int kGroupsPerPartial = 4;
constexpr int kInputsPerPartial = kGroup * kGroupsPerPartial;
constexpr int kLanesOfGroup = 2;

/// Weights are signed.
constexpr int kMaxWeight = 127;

/// Ranges of the integers of a format.
struct Int8Range {
  int max_value;  ///< of the values of rows, which are unsigned
  /// Maximum sum of the absolute weights whose products AVX2 sums in one 16-bit lane.
  int max_in_lane;

  /// Maximum number of inputs for which sums fit into 32 bits.
  constexpr int64_t max_inputs() const noexcept {
    return int64_t{INT32_MAX} / (max_value * kLanesOfGroup * max_in_lane) * kInputsPerPartial;
  }
};

/// int8: products of 7 bits, whose sums in 16 bits cannot overflow. Up to 524,304 inputs.
constexpr Int8Range kSevenBits{.max_value = 127, .max_in_lane = INT16_MAX / 127};

/// int8-vnni: all products are summed in 32 bits, so weights need no limit. Up to 66,304 inputs.
constexpr Int8Range kEightBits{.max_value = 255,
                               .max_in_lane = kInputsPerPartial / kLanesOfGroup * kMaxWeight};

/// Minimum scale: the smallest normal float32. A smaller scale has no finite inverse, or is so
/// coarse that a quotient would not fit into 8 bits.
constexpr float kMinScale = 0x1p-126F;

/// Scales, weight sums and bias of the outputs of one vector.
template <class Simd>
class OutputScales {
 public:
  using Integers = Simd::Integers;

  OutputScales(const Tile& tile, int half)
      : first_(half * Simd::kLanes),
        weight_sums_(Simd::load(tile.weight_sums + first_)),
        scales_(Simd::load(tile.scales + first_)),
        bias_(Simd::load(tile.bias + first_)) {}

  /// Converts the sums of a row to float32 and stores them.
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

/// Integer sums, for a Product (tile.h) of int8.
template <class Simd>
struct IntegerSums {
  using Number = uint8_t;
  using Weight = int8_t;
  using Sum = Simd::Integers;
  static constexpr int kLanes = Simd::kLanes;
  static constexpr int kGroup = kernels::kGroup;
  static constexpr int kGroupsPerPartial = kernels::kGroupsPerPartial;

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

  // Except on AVX2, partial sums are the sums themselves.
  using Partial = Sum;
  static Partial begin(Sum sums) { return sums; }
  static Sum end(Sum, Partial partial) { return partial; }
};

/// Quantizes a row to integers from 0 to kMaxValue with a scale and a zero point.
template <class Simd, int kMaxValue>
RowScale quantize_row(const float* from, int64_t count, uint8_t* to) {
  using Floats = Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  // Minimum and maximum of 0 and the values.
  Floats low{}, high{}, poison{};
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Floats values = Simd::load(from + i);
    low = Simd::min(values, low);
    high = Simd::max(values, high);
    poison += values * 0.0F;  // NaN if a value is not finite
  }
  float lowest = hmin<kLanes>(low), highest = hmax<kLanes>(high);
  float not_finite = hsum<kLanes>(poison);
  for (int64_t k = i; k < count; ++k) {
    lowest = from[k] < lowest ? from[k] : lowest;
    highest = from[k] > highest ? from[k] : highest;
    not_finite += from[k] * 0.0F;
  }
  // A range below kMaxValue × kMinScale uses fewer steps.
  const float step = (highest - lowest) / kMaxValue;
  const float scale = (step > kMinScale ? step : kMinScale) + not_finite;
  const float inverse = scale > 0 ? 1 / scale : 0;  // 0 if scale is NaN
  // Adding 0.5 and truncating rounds to nearest, because the operand is not negative.
  // NOLINTNEXTLINE(bugprone-incorrect-roundings)
  const int32_t zero_point = scale > 0 ? static_cast<int32_t>(-lowest * inverse + 0.5F) : 0;
  const float offset = static_cast<float>(zero_point) + 0.5F;
  for (i = 0; i + kLanes <= count; i += kLanes) {
    // max(NaN, 0) is 0.
    const Floats values = Simd::max(Simd::load(from + i) * inverse + offset, Floats{});
    Simd::store_bytes(to + i, Simd::min(values, Floats{} + kMaxValue));
  }
  for (; i < count; ++i) {
    const float value = from[i] * inverse + offset;
    to[i] = static_cast<uint8_t>(value > 0 ? (value < kMaxValue ? value : kMaxValue) : 0);
  }
  return {.scale = scale, .zero_point = zero_point};
}

template <class Simd, class Product, int kRows, Int8Range kRange>
constexpr Kernel int8_kernel(const char* name, Instructions needs,
                             const Int8Attention& attention) noexcept {
  return {.name = name,
          .needs = needs,
          .nr = 2 * Simd::kLanes,
          .mr = kRows,
          .value_bytes = 1,
          .kr = kInputsPerPartial,
          .k_step = kGroup,
          .tiles = kTiles<Product, kRows>.of_rows,
          .pack_a = pack_rows<uint8_t, quantize_row<Simd, kRange.max_value>>,
          .int8_attention = &attention};
}

}  // namespace
}  // namespace kernels
