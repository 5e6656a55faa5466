// Sizes of tiles, and what is filled up to them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace gemm {

/// Of all kernels.
constexpr int kMaxTileRows = 32;
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

/// Of rows of so many inputs, filled up. Those that a step of several rows reads one below the
/// other are an odd number of cache lines apart: else large powers of 2 would put all of them into
/// the same few sets of the first-level cache.
inline int64_t row_stride(int64_t inputs, int64_t inputs_together, int64_t row_step) {
  const int64_t filled = filled_up(inputs, inputs_together);
  const bool is_even = filled / inputs_together % 2 == 0;
  return row_step > 1 && is_even ? filled + inputs_together : filled;
}

}  // namespace gemm
