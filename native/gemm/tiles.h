// The tile of every kernel, written once. Included by files that are compiled for different
// instructions, so everything here has internal linkage and nothing of the standard library's
// inline code is used: the linker would be free to keep the copy that not every processor can run.
#pragma once

#include "attention_panels.h"
#include "kernel.h"
#include "lanes.h"

namespace gemm {
namespace {

/// Simd: the vector type `Vector` of kLanes floats; load, store, broadcast, gelu. Weight: its
/// stored type, and load of kLanes of them. Two vectors side by side make a panel; kRows × 2
/// accumulators stay in registers while the panel streams by.
template <class Simd, class Weight, int kRows>
void compute_tile(const Tile& tile) {
  using Vector = Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  const auto* weights = static_cast<const Weight::Stored*>(tile.panel);
  const float* a = tile.a;
  const char* prefetch = tile.prefetch;
  const int64_t stride = tile.a_stride;
  Vector sums[kRows][2];
  const Vector bias[2] = {Simd::load(tile.bias), Simd::load(tile.bias + kLanes)};
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    sums[row][0] = bias[0];
    sums[row][1] = bias[1];
  }
  for (int64_t k = 0; k < tile.inputs; ++k) {
    const Vector left = Weight::load(weights);
    const Vector right = Weight::load(weights + kLanes);
    weights += 2 * kLanes;
    __builtin_prefetch(prefetch, 0, 2);
    prefetch += tile.prefetch_step;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const Vector factor = Simd::broadcast(a + row * stride + k);
      sums[row][0] += factor * left;
      sums[row][1] += factor * right;
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    Simd::store(tile.c + row * tile.c_stride, sums[row][0]);
    Simd::store(tile.c + row * tile.c_stride + kLanes, sums[row][1]);
  }
}

/// e to the power of −x, x ≥ 0, within 2 units in the last place.
template <class Simd>
Simd::Vector exp_of_negative(typename Simd::Vector x) {
  using Vector = Simd::Vector;
  using Integers = Simd::Integers;
  constexpr float kMost = 87;  // beyond, the result would be subnormal
  constexpr float kLog2E = 1.44269504F;
  constexpr float kRounder = 0x1.8p23F;  // an added float is rounded to an integer by it
  constexpr float kLn2High = 0.693359375F;
  constexpr float kLn2Low = -2.12194440e-4F;
  constexpr int kFractionBits = 23;
  x = x > kMost ? Vector{} - kMost : -x;  // NaN stays
  const Vector nan_or_zero = x * 0.0F;
  const Vector rounded = x * kLog2E + kRounder;
  const Vector whole = rounded - kRounder;
  const Vector rest = (x - whole * kLn2High) - whole * kLn2Low;
  Vector power = rest * 1.9875691500e-4F + 1.3981999507e-3F;  // cephes, expf
  power = power * rest + 8.3334519073e-3F;
  power = power * rest + 4.1665795894e-2F;
  power = power * rest + 1.6666665459e-1F;
  power = power * rest + 5.0000001201e-1F;
  power = power * rest * rest + rest + 1.0F;
  return (Vector)((Integers)power + ((Integers)rounded << kFractionBits)) + nan_or_zero;
}

/// See ExponentialsFunction.
template <class Simd>
void compute_exponentials(float* scores, int64_t rows, int64_t stride, int64_t count, float* sums) {
  using Vector = Simd::Vector;
  for (int64_t row = 0; row < rows; ++row, scores += stride) {
    Vector highest = Simd::load(scores);
    for (int64_t i = Simd::kLanes; i < count; i += Simd::kLanes) {
      const Vector values = Simd::load(scores + i);
      highest = values > highest ? values : highest;
    }
    const float most = highest_of<Simd::kLanes>(highest);
    Vector sum{};
    for (int64_t i = 0; i < count; i += Simd::kLanes) {
      const Vector power = exp_of_negative<Simd>(most - Simd::load(scores + i));
      Simd::store(scores + i, power);
      sum += power;
    }
    sums[row] = sum_of<Simd::kLanes>(sum);
  }
}

/// The error function of x, within 3.5e-7: a quotient of polynomials, the best for |x| ≤ 4.
/// Source: Eigen, MathFunctionsImpl.h (generic_fast_erf_float).
template <class Vector>
Vector error_function(Vector x) {
  x = x > 4.0F ? Vector{} + 4.0F : x;
  x = x < -4.0F ? Vector{} - 4.0F : x;
  const Vector square = x * x;
  Vector above = square * -2.72614225801306e-10F + 2.77068142495902e-08F;
  above = above * square - 2.10102402082508e-06F;
  above = above * square - 5.69250639462346e-05F;
  above = above * square - 7.34990630326855e-04F;
  above = above * square - 2.95459980854025e-03F;
  above = above * square - 1.60960333262415e-02F;
  Vector below = square * -1.45660718464996e-05F - 2.13374055278905e-04F;
  below = below * square - 1.68282697438203e-03F;
  below = below * square - 7.37332916720468e-03F;
  below = below * square - 1.42647390514189e-02F;
  return x * above / below;
}

/// x Φ(x)
template <class Vector>
Vector gelu_by_quotient(Vector x) {
  constexpr float kSqrtHalf = 0.707106781F;
  const Vector half = 0.5F * x;
  return half + half * error_function(x * kSqrtHalf);
}

/// See ActivationFunction.
template <class Simd>
void compute_gelu(float* values, int64_t rows, int64_t columns, int64_t stride) {
  for (int64_t row = 0; row < rows; ++row) {
    float* const end = values + row * stride + columns;
    for (float* at = values + row * stride; at < end; at += Simd::kLanes) {
      Simd::store(at, Simd::gelu(Simd::load(at)));
    }
  }
}

/// See LayerNormRows.
template <class Simd>
void normalize_rows(const LayerNormRows& rows) {
  using Vector = Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  const auto size = static_cast<float>(rows.size);
  const int64_t whole = rows.size / kLanes * kLanes;
  for (int64_t row = 0; row < rows.rows; ++row) {
    const float* const x = rows.x + row * rows.size;
    const float* const residual =
        rows.residual != nullptr ? rows.residual + row * rows.size : nullptr;
    float* const y = rows.y + row * rows.size;
    Vector sums{};
    for (int64_t i = 0; i < whole; i += kLanes) {
      Vector value = Simd::load(x + i);
      if (residual != nullptr) value += Simd::load(residual + i);
      Simd::store(y + i, value);
      sums += value;
    }
    float sum = sum_of<Simd::kLanes>(sums);
    for (int64_t i = whole; i < rows.size; ++i) {
      y[i] = x[i] + (residual != nullptr ? residual[i] : 0);
      sum += y[i];
    }
    const float mean = sum / size;
    Vector squares{};
    for (int64_t i = 0; i < whole; i += kLanes) {
      const Vector distance = Simd::load(y + i) - mean;
      squares += distance * distance;
    }
    float square = sum_of<Simd::kLanes>(squares);
    for (int64_t i = whole; i < rows.size; ++i) square += (y[i] - mean) * (y[i] - mean);
    const float factor = 1 / __builtin_sqrtf(square / size + rows.epsilon);
    for (int64_t i = 0; i < whole; i += kLanes) {
      Vector value = (Simd::load(y + i) - mean) * factor * Simd::load(rows.weight + i);
      if (rows.bias != nullptr) value += Simd::load(rows.bias + i);
      Simd::store(y + i, value);
    }
    for (int64_t i = whole; i < rows.size; ++i) {
      y[i] = (y[i] - mean) * factor * rows.weight[i];
      if (rows.bias != nullptr) y[i] += rows.bias[i];
    }
  }
}

/// Tiles of 1 … kRows rows.
template <class Simd, class Weight, int kRows>
struct TilesUpTo;

#define GEMM_TILE(rows) compute_tile<Simd, Weight, rows>

template <class Simd, class Weight>
struct TilesUpTo<Simd, Weight, 6> {
  static constexpr TileFunction kTiles[] = {GEMM_TILE(1), GEMM_TILE(2), GEMM_TILE(3),
                                            GEMM_TILE(4), GEMM_TILE(5), GEMM_TILE(6)};
};

template <class Simd, class Weight>
struct TilesUpTo<Simd, Weight, 12> {
  static constexpr TileFunction kTiles[] = {
      GEMM_TILE(1), GEMM_TILE(2), GEMM_TILE(3), GEMM_TILE(4),  GEMM_TILE(5),  GEMM_TILE(6),
      GEMM_TILE(7), GEMM_TILE(8), GEMM_TILE(9), GEMM_TILE(10), GEMM_TILE(11), GEMM_TILE(12)};
};

#undef GEMM_TILE

template <class Simd, class Float32, class Float16, class BFloat16, int kRows>
constexpr Kernel make_kernel(const char* name, Instructions needs) noexcept {
  return {.name = name,
          .needs = needs,
          .panel_width = 2 * Simd::kLanes,
          .tile_rows = kRows,
          .float32_tiles = TilesUpTo<Simd, Float32, kRows>::kTiles,
          .float16_tiles = TilesUpTo<Simd, Float16, kRows>::kTiles,
          .bfloat16_tiles = TilesUpTo<Simd, BFloat16, kRows>::kTiles,
          .gelu = compute_gelu<Simd>,
          .exponentials = compute_exponentials<Simd>,
          .pack_keys = pack_keys<Simd>,
          .pack_values = pack_values<Simd>,
          .normalize = normalize_rows<Simd>};
}

}  // namespace
}  // namespace gemm
