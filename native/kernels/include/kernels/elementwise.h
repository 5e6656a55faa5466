// Layer normalization, RMS normalization, rotary position embedding and activations.
#pragma once

#include <cstdint>

#include "kernels/matmul.h"

namespace kernels {

/// y = (v − mean(v)) / √(variance(v) + epsilon) × weight + bias for each row of v = x + residual.
struct LayerNormRows {
  const float* x;         ///< [rows, size], contiguous
  const float* residual;  ///< [rows, size], contiguous; null: no residual
  float* y;               ///< [rows, size], contiguous; may be x
  int64_t rows;
  int64_t size;
  const float* weight;  ///< [size]
  const float* bias;    ///< [size]; null: no bias
  float epsilon;
};

void normalize(const LayerNormRows& rows);

/// y = x / √(mean(x²) + epsilon) × weight for each vector of x. A row has `groups` consecutive
/// vectors.
struct RmsNormRows {
  const float* x;    ///< [rows, groups × size]
  int64_t x_stride;  ///< row stride in floats
  float* y;          ///< [rows, groups × size]; may be x
  int64_t y_stride;
  int64_t rows, groups, size;
  const float* weight;  ///< [size]
  float epsilon;
  bool adds = false;  ///< adds to y
};

void normalize_rms(const RmsNormRows& rows);

/// Heads to rotate in place. The dimensions i and half + i of a head form a pair (i < half), which
/// is rotated by the row's angle for i.
struct RotatedHeads {
  float* states;   ///< [rows, heads × 2 × half]
  int64_t stride;  ///< row stride of `states` in floats
  int64_t rows, heads;
  int64_t half;      ///< half of the head size
  const float* cos;  ///< [rows, half], contiguous
  const float* sin;  ///< [rows, half], contiguous
};

void rotate(const RotatedHeads& heads);

/// Replaces each value by its activation: kGelu, kGeluTanh or kSilu. The bits of a result do not
/// depend on the other values.
void activate(Epilogue activation, float* values, int64_t count);

/// Maximum number of floats of a vector.
constexpr int64_t kMaxVector = 16;

/// to[i] += from[i], and to[i] = max(to[i], from[i]), or NaN if one is NaN. `count` is rounded up
/// to a multiple of kMaxVector. `from` may be further on in the memory of `to`.
void add_in_vectors(float* to, const float* from, int64_t count);
void maximum_in_vectors(float* to, const float* from, int64_t count);

}  // namespace kernels
