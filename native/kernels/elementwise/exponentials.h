// Exponentials of scores, for any vectors: Simd (processor/simd_*.h). Included by files that are
// compiled for different instructions: see format/tile.h.
#pragma once

#include <cstdint>

#include "processor/lanes.h"

namespace kernels {
namespace {

/// 2 to the power of x from −0.5 to 0.5, within 1.2e-7 of it, and 1 of 0: of the polynomials that
/// are 1 there the one whose furthest error is least.
template <class Vector>
Vector power_of_fraction(Vector x) {
  Vector power = x * 0x1.5bba14p-10F + 0x1.3cea88p-7F;
  power = power * x + 0x1.c6b752p-5F;
  power = power * x + 0x1.ebf9bcp-3F;
  power = power * x + 0x1.62e42ap-1F;
  return power * x + 1.0F;
}

/// Below, powers of 2 would be subnormal.
constexpr float kLeastExponent = -126;

/// 2 to the power of x ≤ 0, or of −126 where x is below. NaN stays.
template <class Simd>
Simd::Vector power_of_2(typename Simd::Vector x) {
  using Vector = Simd::Vector;
  using Integers = Simd::Integers;
  constexpr int kFractionBits = 23, kExponentBias = 127;
  // An added float is rounded to an integer by it, and its lowest bits are those of the exponent.
  constexpr float kRounder = 0x1.8p23F + kExponentBias;
  x = Simd::max(Vector{} + kLeastExponent, x);
  const Vector rounded = x + kRounder;
  const auto factor = (Vector)((Integers)rounded << kFractionBits);
  return power_of_fraction(x - (rounded - kRounder)) * factor;
}

/// Of each row of scores, count a multiple of two vectors: e to the power of what a score lies
/// below the row's highest, two vectors at a time to keep(row, i, first, second). sums: [rows], of
/// these.
template <class Simd, Simd::Vector (*power_of_2)(typename Simd::Vector), class Keep>
void exponentials_of_rows(const float* scores, int64_t rows, int64_t stride, int64_t count,
                          float* sums, const Keep& keep) {
  using Vector = Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  constexpr int64_t kStep = int64_t{2} * kLanes;
  constexpr float kLog2E = 1.44269504F;
  // Two vectors at a time: neither waits for the other.
  for (int64_t row = 0; row < rows; ++row, scores += stride) {
    Vector highest[2] = {Simd::load(scores), Simd::load(scores + kLanes)};
    for (int64_t i = kStep; i < count; i += kStep) {
      highest[0] = Simd::max(highest[0], Simd::load(scores + i));
      highest[1] = Simd::max(highest[1], Simd::load(scores + i + kLanes));
    }
    const float most = highest_of<kLanes>(Simd::max(highest[0], highest[1]));
    Vector sum[2] = {};
    for (int64_t i = 0; i < count; i += kStep) {
      const Vector first = power_of_2((Simd::load(scores + i) - most) * kLog2E);
      const Vector second = power_of_2((Simd::load(scores + i + kLanes) - most) * kLog2E);
      keep(row, i, first, second);
      sum[0] += first;
      sum[1] += second;
    }
    sums[row] = sum_of<kLanes>(sum[0] + sum[1]);
  }
}

/// See Elementwise.
template <class Simd, Simd::Vector (*power_of_2)(typename Simd::Vector)>
void compute_exponentials(float* scores, int64_t rows, int64_t stride, int64_t count, float* sums) {
  using Vector = Simd::Vector;
  const auto keep = [=](int64_t row, int64_t i, Vector first, Vector second) {
    float* const to = scores + row * stride + i;
    Simd::store(to, first);
    Simd::store(to + Simd::kLanes, second);
  };
  exponentials_of_rows<Simd, power_of_2>(scores, rows, stride, count, sums, keep);
}

}  // namespace
}  // namespace kernels
