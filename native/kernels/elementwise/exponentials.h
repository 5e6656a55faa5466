// Softmax numerators. Simd: see cpu/simd_*.h. Included by files that are compiled for different
// instruction sets, see matmul/tile.h.
#pragma once

#include <cstdint>

#include "cpu/reduce.h"

namespace kernels {
namespace {

/// 2^x for x from −0.5 to 0.5 with a relative error of 1.2e-7. Minimax polynomial with the value 1
/// at 0.
template <class Vector>
Vector power_of_fraction(Vector x) {
  Vector power = x * 0x1.5bba14p-10F + 0x1.3cea88p-7F;
  power = power * x + 0x1.c6b752p-5F;
  power = power * x + 0x1.ebf9bcp-3F;
  power = power * x + 0x1.62e42ap-1F;
  return power * x + 1.0F;
}

/// Minimum exponent: smaller powers of 2 are subnormal.
constexpr float kMinExponent = -126;

/// 2^max(x, −126) for x ≤ 0. NaN stays NaN.
template <class Simd>
Simd::Vector power_of_2(typename Simd::Vector x) {
  using Vector = Simd::Vector;
  using Integers = Simd::Integers;
  constexpr int kFractionBits = 23, kExponentBias = 127;
  // Adding this constant rounds x to an integer and puts the biased exponent into the lowest bits.
  constexpr float kRounder = 0x1.8p23F + kExponentBias;
  x = Simd::max(Vector{} + kMinExponent, x);
  const Vector rounded = x + kRounder;
  const auto factor = (Vector)((Integers)rounded << kFractionBits);
  return power_of_fraction(x - (rounded - kRounder)) * factor;
}

/// Computes exp(score − row maximum) for scores [rows, count] and passes two vectors at a time to
/// keep(row, i, first, second). count: a multiple of two vectors. sinks: [rows], a further score of
/// each row, which only adds to the sum; null: none. sums: [rows], the row sums.
template <class Simd, Simd::Vector (*power_of_2)(typename Simd::Vector), class Keep>
void exponentials_of_rows(const float* scores, int64_t rows, int64_t stride, int64_t count,
                          const float* sinks, float* sums, const Keep& keep) {
  using Vector = Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  constexpr int64_t kStep = int64_t{2} * kLanes;
  constexpr float kLog2E = 1.44269504F;
  // Two independent vectors hide the latency of the instructions.
  for (int64_t row = 0; row < rows; ++row, scores += stride) {
    Vector highest[2] = {Simd::load(scores), Simd::load(scores + kLanes)};
    for (int64_t i = kStep; i < count; i += kStep) {
      highest[0] = Simd::max(highest[0], Simd::load(scores + i));
      highest[1] = Simd::max(highest[1], Simd::load(scores + i + kLanes));
    }
    float most = hmax<kLanes>(Simd::max(highest[0], highest[1]));
    if (sinks != nullptr && sinks[row] > most) most = sinks[row];
    Vector sum[2] = {};
    for (int64_t i = 0; i < count; i += kStep) {
      const Vector first = power_of_2((Simd::load(scores + i) - most) * kLog2E);
      const Vector second = power_of_2((Simd::load(scores + i + kLanes) - most) * kLog2E);
      keep(row, i, first, second);
      sum[0] += first;
      sum[1] += second;
    }
    sums[row] = hsum<kLanes>(sum[0] + sum[1]);
    if (sinks != nullptr) sums[row] += power_of_2(Vector{} + (sinks[row] - most) * kLog2E)[0];
  }
}

/// See Elementwise::exponentials.
template <class Simd, Simd::Vector (*power_of_2)(typename Simd::Vector)>
void compute_exponentials(float* scores, int64_t rows, int64_t stride, int64_t count,
                          const float* sinks, float* sums) {
  using Vector = Simd::Vector;
  const auto keep = [=](int64_t row, int64_t i, Vector first, Vector second) {
    float* const to = scores + row * stride + i;
    Simd::store(to, first);
    Simd::store(to + Simd::kLanes, second);
  };
  exponentials_of_rows<Simd, power_of_2>(scores, rows, stride, count, sinks, sums, keep);
}

}  // namespace
}  // namespace kernels
