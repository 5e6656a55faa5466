// Elementwise maximum that propagates NaN.
#pragma once

#include <cmath>
#include <cstdint>

namespace backend::nn {

/// largest[i] = max(largest[i], row[i]), NaN if either is NaN, like torch.maximum. std::max would
/// drop a NaN in `row` and hide a diverged model.
inline void max_inplace(const float* row, int64_t count, float* largest) {
  for (int64_t i = 0; i < count; ++i) {
    const float value = row[i];
    const float larger = largest[i] < value ? value : largest[i];
    largest[i] = std::isnan(value) ? value : larger;
  }
}

}  // namespace backend::nn
