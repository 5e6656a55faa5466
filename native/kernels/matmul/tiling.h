// Limits of tile sizes, and rounding up to multiples.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kernels {

/// Maxima of mr and nr over all kernels.
constexpr int kMaxMr = 32;
constexpr int kMaxNr = 32;

constexpr int64_t kLineBytes = 64;
constexpr int64_t kLineFloats = kLineBytes / static_cast<int64_t>(sizeof(float));

template <class Count>
constexpr Count ceil_divide(Count a, std::type_identity_t<Count> b) {
  return (a + b - 1) / b;
}

template <class Count>
constexpr Count round_up(Count count, std::type_identity_t<Count> step) {
  return ceil_divide(count, step) * step;
}

}  // namespace kernels
