// The functions of int8 attention. Simd: see cpu/simd_*.h. Included by files that are compiled for
// different instruction sets, see matmul/tile.h.
#pragma once

#include "attention/int8_kernel.h"
#include "cpu/reduce.h"
#include "elementwise/exponentials.h"
#include "matmul/int8.h"

namespace kernels {
namespace {

/// Distance of a signed integer from the unsigned integer with the highest bit flipped.
constexpr int kSignOffset = 128;
constexpr uint32_t kSignBits = 0x80808080U;
constexpr int kByte = 8;

/// Loads kLanes floats, or `count` floats and zeros if there are fewer. Arrays here have the
/// alignment of a vector: for a frame with other arrays, GCC 12 assumes an alignment that the stack
/// frames of AddressSanitizer do not have.
template <class Simd>
Simd::Vector load_some(const float* from, int64_t count) {
  if (count >= Simd::kLanes) return Simd::load(from);
  alignas(typename Simd::Vector) float some[Simd::kLanes] = {};
  for (int64_t i = 0; i < count; ++i) some[i] = from[i];
  return Simd::load(some);
}

template <class Simd>
int32_t sum_of_lanes(typename Simd::Integers integers) {
  return reduce<Simd::kLanes>(integers, [](auto a, auto b) { return a + b; });
}

inline float inverse_of(float scale) { return scale > 0 ? 1 / scale : 0; }

/// Largest absolute value in each lane. As integers, absolute values have the same order, and
/// infinity and NaN are larger than all numbers.
template <class Simd>
class Largest {
 public:
  using Vector = Simd::Vector;
  using Integers = Simd::Integers;
  void add(Vector values) {
    constexpr int32_t kMagnitude = 0x7fffffff;
    bits_ = Simd::max((Integers)values & kMagnitude, bits_);
  }
  Vector lanes() const { return (Vector)bits_; }
  /// Scale of integers up to `most`. NaN if a value is not finite.
  float scale(float most) const {
    const int32_t bits =
        reduce<Simd::kLanes>(bits_, [](auto a, auto b) { return Simd::max(a, b); });
    float largest;
    __builtin_memcpy(&largest, &bits, sizeof largest);
    const float step = largest / most;
    return (step > kMinScale ? step : kMinScale) + largest * 0;
  }

 private:
  Integers bits_{};
};

/// Rounds values to integers from 0 to 255 after adding a zero point. NaN becomes 0.
template <class Simd>
Simd::Vector shifted(typename Simd::Vector values, typename Simd::Vector inverse, int zero_point) {
  const float offset = static_cast<float>(zero_point) + 0.5F;
  return Simd::max(values * inverse + offset, typename Simd::Vector{});
}

/// See Int8Attention::pack_queries and pack_rows().
template <class Simd>
RowScale quantize_query(const float* from, int64_t count, uint8_t* to) {
  constexpr int64_t kLanes = Simd::kLanes;
  Largest<Simd> largest;
  for (int64_t i = 0; i < count; i += kLanes) largest.add(load_some<Simd>(from + i, count - i));
  const float scale = largest.scale(kQueryZeroPoint - 1);
  const auto inverse = typename Simd::Vector{} + inverse_of(scale);
  for (int64_t i = 0; i < count; i += kLanes) {
    const auto values =
        shifted<Simd>(load_some<Simd>(from + i, count - i), inverse, kQueryZeroPoint);
    if (count - i >= kLanes) {
      Simd::store_bytes(to + i, values);
      continue;
    }
    alignas(typename Simd::Vector) uint8_t bytes[kLanes];
    Simd::store_bytes(bytes, values);
    for (int64_t k = 0; k < count - i; ++k) to[i + k] = bytes[k];
  }
  return {.scale = scale, .zero_point = kQueryZeroPoint};
}

/// See Int8Attention::mean_of_rows.
template <class Simd>
void mean_of_rows(const float* rows, int64_t stride, int64_t count, int64_t size, float* mean) {
  constexpr int64_t kLanes = Simd::kLanes;
  const float factor = 1 / static_cast<float>(count);
  for (int64_t i = 0; i < size; i += kLanes) {
    typename Simd::Vector sum{};
    for (int64_t row = 0; row < count; ++row) {
      sum += load_some<Simd>(rows + row * stride + i, size - i);
    }
    alignas(typename Simd::Vector) float means[kLanes];
    Simd::store(means, sum * factor);
    for (int64_t k = 0; k < kLanes && i + k < size; ++k) mean[i + k] = means[k];
  }
}

/// See Int8Attention::multiply_rows. Sixteen sums, so that their order does not depend on the
/// instruction set.
template <class Simd>
void multiply_rows(const float* rows, int64_t count, int64_t size, const float* vector,
                   float* products) {
  constexpr int64_t kLanes = Simd::kLanes, kSums = 16, kVectors = kSums / kLanes;
  for (int64_t row = 0; row < count; ++row, rows += size) {
    typename Simd::Vector sums[kVectors] = {};
    for (int64_t i = 0; i < size; i += kSums) {
      for (int64_t part = 0; part < kVectors; ++part) {
        const int64_t at = i + part * kLanes;
        sums[part] +=
            load_some<Simd>(rows + at, size - at) * load_some<Simd>(vector + at, size - at);
      }
    }
    for (int64_t half = kVectors / 2; half > 0; half /= 2) {
      for (int64_t part = 0; part < half; ++part) sums[part] += sums[part + half];
    }
    products[row] = hsum<Simd::kLanes>(sums[0]);
  }
}

/// Quantizes one key, and writes it to a column of a panel.
template <class Simd>
void pack_key(const Int8Keys& keys, int64_t token, int8_t* column) {
  constexpr int64_t kLanes = Simd::kLanes, kWidth = 2 * kLanes;
  const float* const from = keys.from + token * keys.stride;
  const auto values_at = [&](int64_t i) {
    auto values = load_some<Simd>(from + i, keys.head_size - i);
    if (keys.mean != nullptr) values -= load_some<Simd>(keys.mean + i, keys.head_size - i);
    return values;
  };
  Largest<Simd> largest;
  for (int64_t i = 0; i < keys.head_size; i += kLanes) largest.add(values_at(i));
  const float scale = largest.scale(kMaxWeight);
  const auto inverse = typename Simd::Vector{} + inverse_of(scale);
  typename Simd::Integers sum{};
  for (int64_t i = 0; i < keys.inputs; i += kLanes) {
    // Zeros follow the key.
    const auto values = i < keys.head_size ? values_at(i) : typename Simd::Vector{};
    const auto unsigned_values = shifted<Simd>(values, inverse, kSignOffset);
    sum += Simd::truncate(unsigned_values) - kSignOffset;
    alignas(typename Simd::Vector) uint32_t groups[kLanes / kGroup];
    Simd::store_bytes(reinterpret_cast<uint8_t*>(groups), unsigned_values);
    for (int64_t k = 0; k < kLanes / kGroup; ++k) {
      const uint32_t group = groups[k] ^ kSignBits;
      __builtin_memcpy(column + (i / kGroup + k) * kWidth * kGroup, &group, sizeof group);
    }
  }
  keys.scales[token] = scale * keys.scale;
  keys.first_sums[token] = -kQueryZeroPoint * sum_of_lanes<Simd>(sum);
}

/// See Int8Attention::pack_keys.
template <class Simd>
void pack_keys_int8(const Int8Keys& keys) {
  constexpr int64_t kWidth = int64_t{2} * Simd::kLanes;
  const int64_t padded = (keys.count + kWidth - 1) / kWidth * kWidth;
  for (int64_t token = 0; token < padded; ++token) {
    int8_t* const column =
        keys.to + token / kWidth * kWidth * keys.inputs + token % kWidth * kGroup;
    if (token < keys.count) {
      pack_key<Simd>(keys, token, column);
      continue;
    }
    for (int64_t group = 0; group < keys.inputs / kGroup; ++group) {
      __builtin_memset(column + group * kWidth * kGroup, 0, kGroup);
    }
    keys.scales[token] = 0;
    keys.first_sums[token] = 0;
  }
}

/// Packs the values of kLanes dimensions into one half of a panel.
template <class Simd>
void pack_dimensions(const Int8Values& values, int64_t first, int8_t* to, float* scales) {
  using Integers = Simd::Integers;
  constexpr int64_t kLanes = Simd::kLanes, kWidth = 2 * kLanes;
  const int64_t count = values.head_size - first;
  const auto values_of = [&](int64_t token) {
    return token < values.tokens
               ? load_some<Simd>(values.from + token * values.stride + first, count)
               : typename Simd::Vector{};
  };
  Largest<Simd> largest;
  for (int64_t token = 0; token < values.tokens; ++token) largest.add(values_of(token));
  const auto step =
      Simd::max(largest.lanes() * (1.0F / kMaxWeight), typename Simd::Vector{} + kMinScale);
  const auto inverse = 1.0F / step;
  Simd::store(scales, step + largest.lanes() * 0.0F);  // NaN if a value is not finite
  for (int64_t token = 0; token < values.padded; token += kGroup, to += kWidth * kGroup) {
    Integers group{};
    for (int64_t k = kGroup - 1; k >= 0; --k) {
      const auto integers =
          Simd::truncate(shifted<Simd>(values_of(token + k), inverse, kSignOffset));
      group = (group << kByte) | integers;
    }
    Simd::store(static_cast<void*>(to), group ^ Simd::broadcast(static_cast<int32_t>(kSignBits)));
  }
}

/// See Int8Attention::pack_values.
template <class Simd>
void pack_values_int8(const Int8Values& values) {
  constexpr int64_t kLanes = Simd::kLanes, kWidth = 2 * kLanes;
  int8_t* to = values.to;
  for (int64_t first = 0; first < values.head_size; first += kWidth) {
    for (int64_t half = 0; half < 2; ++half) {
      const int64_t dimension = first + half * kLanes;
      pack_dimensions<Simd>(values, dimension, to + half * kLanes * kGroup,
                            values.scales + dimension);
    }
    to += values.padded * kWidth;
  }
}

/// Largest softmax numerator.
constexpr int kMaxNumerator = 127;

/// 127 × 2^x for x from −0.5 to 0.5 with a relative error of 1e-4. Minimax polynomial.
template <class Vector>
Vector numerator_of_fraction(Vector x) {
  Vector power = x * (0.05517166F * kMaxNumerator) + 0.24261139F * kMaxNumerator;
  power = power * x + 0.69326099F * kMaxNumerator;
  return power * x + 0.99992807F * kMaxNumerator;
}

/// 127 × 2^max(x, −126) for x ≤ 0. NaN stays NaN.
template <class Simd>
Simd::Vector numerator(typename Simd::Vector x) {
  using Vector = Simd::Vector;
  using Integers = Simd::Integers;
  constexpr int kFractionBits = 23, kExponentBias = 127;
  // Adding this constant rounds x to an integer and puts the biased exponent into the lowest bits.
  constexpr float kRounder = 0x1.8p23F + kExponentBias;
  x = Simd::max(Vector{} + kMinExponent, x);
  const Vector rounded = x + kRounder;
  return numerator_of_fraction(x - (rounded - kRounder)) *
         (Vector)((Integers)rounded << kFractionBits);
}

/// 2^−shift, for a shift from 0 to 126.
inline float power_of_shift(int32_t shift) {
  constexpr int32_t kFractionBits = 23, kExponentBias = 127;
  const int32_t bits = (kExponentBias - shift) << kFractionBits;
  float power;
  __builtin_memcpy(&power, &bits, sizeof power);
  return power;
}

/// Quantizes the numerators of one row, and returns the sum of the scaled integers and of the
/// sink's numerator. sink: null: none. Scales are powers of 2, so that the largest integer of a
/// block is 64 or more.
template <class Simd, Simd::Vector (*numerator)(typename Simd::Vector)>
float pack_row(const float* scores, int64_t blocks, uint8_t* to, RowScale* scales,
               const float* sink) {
  using Vector = Simd::Vector;
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLowest = -3.4e38F;
  constexpr float kMaxShift = -kMinExponent;
  constexpr int kLanes = Simd::kLanes;
  float most = kLowest;
  for (int64_t block = 0; block < blocks; ++block) {
    Vector highest = Vector{} + kLowest;
#pragma GCC unroll 4
    for (int64_t i = 0; i < kBlockTokens; i += kLanes) {
      highest = Simd::max(Simd::load(scores + block * kBlockTokens + i), highest);
    }
    const float maximum = hmax<kLanes>(highest);
    scales[block * kMaxMr].scale = maximum;
    most = maximum > most ? maximum : most;
  }
  if (sink != nullptr && *sink > most) most = *sink;
  Vector not_a_number{};
  float sum = sink != nullptr ? numerator(Vector{} + (*sink - most) * kLog2E)[0] : 0;
  for (int64_t block = 0; block < blocks; ++block, scores += kBlockTokens, to += kBlockTokens) {
    const float distance = (most - scales[block * kMaxMr].scale) * kLog2E;
    const auto shift = static_cast<int32_t>(distance < kMaxShift ? distance : kMaxShift);
    const float offset = most * kLog2E - static_cast<float>(shift);
    typename Simd::Integers sums{};
#pragma GCC unroll 4
    for (int64_t i = 0; i < kBlockTokens; i += kLanes) {
      const Vector power = numerator(Simd::load(scores + i) * kLog2E - offset);
      not_a_number += power;
      const auto rounded = Simd::truncate(power + 0.5F);
      sums += rounded;
      Simd::store_bytes(to + i, rounded);
    }
    const float scale = power_of_shift(shift);
    scales[block * kMaxMr] = {.scale = scale, .zero_point = 0};
    sum += scale * static_cast<float>(sum_of_lanes<Simd>(sums));
  }
  return sum + hsum<kLanes>(not_a_number) * 0;
}

/// See Int8Attention::pack_exponentials.
template <class Simd, Simd::Vector (*numerator)(typename Simd::Vector)>
void pack_exponentials(const Int8Exponentials& exponentials) {
  for (int64_t row = 0; row < exponentials.rows; ++row) {
    exponentials.sums[row] = pack_row<Simd, numerator>(
        exponentials.scores + row * exponentials.stride, exponentials.count / kBlockTokens,
        exponentials.to + row * exponentials.to_stride, exponentials.scales + row,
        exponentials.sinks != nullptr ? exponentials.sinks + row : nullptr);
  }
}

/// A Product (matmul/tile.h) that multiplies integers up to 127 × 127: only two products fit into
/// 16 bits.
template <class Simd>
struct AttentionSums : IntegerSums<Simd> {
  using Sum = Simd::Integers;
  static constexpr int kGroupsPerPartial = 1;

  static Sum first(const Tile& tile, int half) {
    return Simd::load(static_cast<const void*>(tile.weight_sums + half * Simd::kLanes));
  }

  template <int kRows>
  static void store(const Tile& tile, const Sum (&sums)[kRows][2]) {
    constexpr int kLanes = Simd::kLanes;
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const auto scales = Simd::load(tile.scales + half * kLanes);
      const auto bias = Simd::load(tile.bias + half * kLanes);
#pragma GCC unroll 16
      for (int row = 0; row < kRows; ++row) {
        float* const c = tile.c + row * tile.c_stride + half * kLanes;
        const auto before = tile.accumulates ? Simd::load(c) : bias;
        Simd::store(
            c, Simd::to_float(sums[row][half]) * (scales * tile.row_scales[row].scale) + before);
      }
    }
  }
};

template <class Simd, class Product, int kRows, Simd::Vector (*numerator)(typename Simd::Vector)>
constexpr Int8Attention int8_attention() noexcept {
  return {.tiles = kTiles<Product, kRows>.of_rows,
          .pack_queries = pack_rows<uint8_t, quantize_query<Simd>>,
          .mean_of_rows = mean_of_rows<Simd>,
          .multiply_rows = multiply_rows<Simd>,
          .pack_keys = pack_keys_int8<Simd>,
          .pack_values = pack_values_int8<Simd>,
          .pack_exponentials = pack_exponentials<Simd, numerator>};
}

}  // namespace
}  // namespace kernels
