// Elementwise functions. Simd: see cpu/simd_*.h. Included by files that are compiled for different
// instruction sets, see matmul/tile.h.
#pragma once

#include "cpu/reduce.h"
#include "elementwise/elementwise.h"
#include "elementwise/exponentials.h"
#include "elementwise/pack_heads.h"
#include "elementwise/relative_scores.h"

namespace kernels {
namespace {

/// The error function with an error of 3.5e-7: a rational approximation for |x| ≤ 4.
/// Source: Eigen, MathFunctionsImpl.h (generic_fast_erf_float).
template <class Vector>
Vector error_function(Vector x) {
  x = x > 4.0F ? Vector{} + 4.0F : x;
  x = x < -4.0F ? Vector{} - 4.0F : x;
  const Vector square = x * x;
  Vector numerator = square * -2.72614225801306e-10F + 2.77068142495902e-08F;
  numerator = numerator * square - 2.10102402082508e-06F;
  numerator = numerator * square - 5.69250639462346e-05F;
  numerator = numerator * square - 7.34990630326855e-04F;
  numerator = numerator * square - 2.95459980854025e-03F;
  numerator = numerator * square - 1.60960333262415e-02F;
  Vector denominator = square * -1.45660718464996e-05F - 2.13374055278905e-04F;
  denominator = denominator * square - 1.68282697438203e-03F;
  denominator = denominator * square - 7.37332916720468e-03F;
  denominator = denominator * square - 1.42647390514189e-02F;
  return x * numerator / denominator;
}

/// GELU: x Φ(x) with the distribution function Φ of the normal distribution.
template <class Vector>
Vector gelu_rational(Vector x) {
  constexpr float kSqrtHalf = 0.707106781F;
  const Vector half = 0.5F * x;
  return half + half * error_function(x * kSqrtHalf);
}

/// Implements EpilogueFunction. epilogue(value, to): new vector at the address `to`.
template <class Simd, class Compute>
void compute_epilogue(const float* values, int64_t rows, int64_t columns, float* to,
                      int64_t to_stride, const Compute& epilogue) {
  for (int64_t row = 0; row < rows; ++row, values += columns, to += to_stride) {
    for (int64_t i = 0; i < columns; i += Simd::kLanes) {
      Simd::store(to + i, epilogue(Simd::load(values + i), to + i));
    }
  }
}

template <class Simd, Simd::Vector (*activation)(typename Simd::Vector)>
void activate(const float* values, int64_t rows, int64_t columns, float* to, int64_t to_stride) {
  compute_epilogue<Simd>(values, rows, columns, to, to_stride,
                         [](auto value, const float*) { return activation(value); });
}

/// 1 / (1 + exp(−x)). NaN stays NaN.
template <class Simd, Simd::Vector (*power_of_2)(typename Simd::Vector)>
Simd::Vector sigmoid(typename Simd::Vector x) {
  using Vector = Simd::Vector;
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLowest = -87;                                // the result is rounded to 0 below
  const Vector power = power_of_2(Simd::max(x, -x) * -kLog2E);  // exp(−|x|)
  const Vector small = x < kLowest ? Vector{} : power;
  const Vector numerator = x < 0.0F ? small : Vector{} + 1.0F;
  return numerator / (power + 1.0F);
}

/// SiLU: x × sigmoid(x).
template <class Simd, Simd::Vector (*power_of_2)(typename Simd::Vector)>
Simd::Vector silu(typename Simd::Vector x) {
  return x * sigmoid<Simd, power_of_2>(x);
}

/// GELU, approximated by x × sigmoid(2 √(2 / π) (x + 0.044715 x³)), which is the formula with tanh.
template <class Simd, Simd::Vector (*power_of_2)(typename Simd::Vector)>
Simd::Vector gelu_tanh(typename Simd::Vector x) {
  constexpr float kFactor = 1.59576912F, kCubic = 0.044715F;
  return x * sigmoid<Simd, power_of_2>(x * kFactor * (x * x * kCubic + 1.0F));
}

template <class Simd>
void add_to(const float* values, int64_t rows, int64_t columns, float* to, int64_t to_stride) {
  compute_epilogue<Simd>(values, rows, columns, to, to_stride, [](auto value, const float* before) {
    return Simd::load(before) + value;
  });
}

template <class Simd>
void multiply_with(const float* values, int64_t rows, int64_t columns, float* to,
                   int64_t to_stride) {
  compute_epilogue<Simd>(values, rows, columns, to, to_stride, [](auto value, const float* before) {
    return Simd::load(before) * value;
  });
}

/// NaN if one value is NaN.
template <class Simd>
void maximum_with(const float* values, int64_t rows, int64_t columns, float* to,
                  int64_t to_stride) {
  compute_epilogue<Simd>(values, rows, columns, to, to_stride, [](auto value, const float* to_max) {
    const auto before = Simd::load(to_max);
    const auto larger = value > before ? value : before;  // `before` if one is NaN
    return value == value ? larger : value;
  });
}

/// See LayerNormRows. Every pass reads the row from y.
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
    float sum = hsum<Simd::kLanes>(sums);
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
    float square = hsum<Simd::kLanes>(squares);
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

/// Normalizes one vector of RmsNormRows.
template <class Simd>
void normalize_rms_vector(const RmsNormRows& rows, const float* x, float* y) {
  using Vector = Simd::Vector;
  constexpr int kLanes = Simd::kLanes;
  const int64_t whole = rows.size / kLanes * kLanes;
  Vector squares{};
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Vector value = Simd::load(x + i);
    squares += value * value;
  }
  float square = hsum<kLanes>(squares);
  for (int64_t i = whole; i < rows.size; ++i) square += x[i] * x[i];
  const float factor = 1 / __builtin_sqrtf(square / static_cast<float>(rows.size) + rows.epsilon);
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Vector value = Simd::load(x + i) * factor * Simd::load(rows.weight + i);
    Simd::store(y + i, rows.adds ? Simd::load(y + i) + value : value);
  }
  for (int64_t i = whole; i < rows.size; ++i) {
    const float value = x[i] * factor * rows.weight[i];
    y[i] = rows.adds ? y[i] + value : value;
  }
}

/// See RmsNormRows.
template <class Simd>
void normalize_rms_rows(const RmsNormRows& rows) {
  for (int64_t row = 0; row < rows.rows; ++row) {
    for (int64_t group = 0; group < rows.groups; ++group) {
      normalize_rms_vector<Simd>(rows, rows.x + row * rows.x_stride + group * rows.size,
                                 rows.y + row * rows.y_stride + group * rows.size);
    }
  }
}

/// See RotatedHeads.
template <class Simd>
void rotate_heads(const RotatedHeads& heads) {
  const int64_t half = heads.half, whole = half / Simd::kLanes * Simd::kLanes;
  for (int64_t row = 0; row < heads.rows; ++row) {
    const float *const cos = heads.cos + row * half, *const sin = heads.sin + row * half;
    float* left = heads.states + row * heads.stride;
    for (int64_t head = 0; head < heads.heads; ++head, left += 2 * half) {
      float* const right = left + half;
      for (int64_t i = 0; i < whole; i += Simd::kLanes) {
        const auto x = Simd::load(left + i), y = Simd::load(right + i);
        const auto of_cos = Simd::load(cos + i), of_sin = Simd::load(sin + i);
        Simd::store(left + i, x * of_cos - y * of_sin);
        Simd::store(right + i, y * of_cos + x * of_sin);
      }
      for (int64_t i = whole; i < half; ++i) {
        const float x = left[i], y = right[i];
        left[i] = x * cos[i] - y * sin[i];
        right[i] = y * cos[i] + x * sin[i];
      }
    }
  }
}

template <class Simd, Simd::Vector (*gelu)(typename Simd::Vector),
          Simd::Vector (*power_of_2)(typename Simd::Vector)>
constexpr Elementwise make_elementwise(const char* name, Instructions needs) noexcept {
  return {.name = name,
          .needs = needs,
          .lanes = Simd::kLanes,
          .gelu = activate<Simd, gelu>,
          .gelu_tanh = activate<Simd, gelu_tanh<Simd, power_of_2>>,
          .silu = activate<Simd, silu<Simd, power_of_2>>,
          .add = add_to<Simd>,
          .multiply = multiply_with<Simd>,
          .maximum = maximum_with<Simd>,
          .exponentials = compute_exponentials<Simd, power_of_2>,
          .pack_keys = pack_keys<Simd>,
          .pack_values = pack_values<Simd>,
          .add_by_index = add_by_index<Simd>,
          .add_skewed = add_skewed<Simd>,
          .normalize = normalize_rows<Simd>,
          .normalize_rms = normalize_rms_rows<Simd>,
          .rotate = rotate_heads<Simd>};
}

}  // namespace
}  // namespace kernels
