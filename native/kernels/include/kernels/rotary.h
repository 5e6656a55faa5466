// Rotary position embedding.
#pragma once

#include <cstdint>

namespace kernels {

/// Each head of a row is a point for each i < half: (i, half + i), which is turned by the row's
/// angle for i.
struct RotatedHeads {
  float* states;  ///< [rows, heads × 2 × half], stride floats from row to row; in place
  int64_t stride;
  int64_t rows, heads;
  int64_t half;      ///< of a head's size
  const float* cos;  ///< [rows, half], rows end to end
  const float* sin;  ///< the same
};

void rotate(const RotatedHeads& heads);

}  // namespace kernels
