// Sizes of tiles, and what is filled up to them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace kernels {

/// Of all kernels.
constexpr int kMaxTileRows = 12;
constexpr int kWidestPanel = 32;

constexpr int64_t kLineBytes = 64;
constexpr int64_t kLineFloats = kLineBytes / static_cast<int64_t>(sizeof(float));

template <class Count>
constexpr Count ceil_divide(Count a, std::type_identity_t<Count> b) {
  return (a + b - 1) / b;
}

template <class Count>
constexpr Count filled_up(Count count, std::type_identity_t<Count> step) {
  return ceil_divide(count, step) * step;
}

}  // namespace kernels
