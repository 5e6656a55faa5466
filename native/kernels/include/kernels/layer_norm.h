// Layer normalization.
#pragma once

#include <cstdint>

namespace kernels {

/// y = (v − mean(v)) / √(variance(v) + epsilon) × weight + bias for each row of v = x + residual.
struct LayerNormRows {
  const float* x;         ///< [rows, size], rows end to end
  const float* residual;  ///< the same; null for none
  float* y;               ///< the same; may be x
  int64_t rows;
  int64_t size;
  const float* weight;  ///< [size]
  const float* bias;    ///< the same; null for none
  float epsilon;
};

void normalize(const LayerNormRows& rows);

}  // namespace kernels
