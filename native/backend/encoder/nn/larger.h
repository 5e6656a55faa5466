// The maximum of rows, with NaN as in PyTorch.
#pragma once

#include <cmath>
#include <cstdint>

namespace backend::nn {

/// largest[i] = max(largest[i], row[i]), NaN where either is NaN, as torch.maximum has it.
/// std::max(a, b) returns a where b is NaN, and so hides that a model has diverged.
inline void keep_larger(const float* row, int64_t count, float* largest) {
  for (int64_t i = 0; i < count; ++i) {
    const float value = row[i];
    const float larger = largest[i] < value ? value : largest[i];
    largest[i] = std::isnan(value) ? value : larger;
  }
}

}  // namespace backend::nn
