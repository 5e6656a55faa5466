// Reductions over the lanes of a vector, and transposition. Included by files that are compiled for
// different instruction sets, see matmul/tile.h.
#pragma once

#include <utility>

// Lane numbers are not negative, so signed bit operations are safe.
// NOLINTBEGIN(bugprone-signed-bitwise)
namespace kernels {
namespace {

/// Selects lanes from the concatenation of a and b.
template <int... kLane, class Vector>
Vector shuffled(Vector a, Vector b) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, kLane...);
#else  // GCC 11
  typedef int Lanes __attribute__((vector_size(sizeof(Vector))));  // NOLINT(modernize-use-using)
  return __builtin_shuffle(a, b, Lanes{kLane...});
#endif
}

/// Swaps each lane with the lane at kDistance (a power of 2).
template <int kDistance, class Vector, int... kLane>
Vector butterfly(Vector values, std::integer_sequence<int, kLane...>) {
  return shuffled<(kLane ^ kDistance)...>(values, values);
}

/// Combines all lanes with `join` in a binary tree: lane i with i + kLanes / 2, and so on.
template <int kLanes, int kDistance = kLanes / 2, class Vector, class Join>
auto reduce(Vector values, const Join& join) {
  if constexpr (kDistance == 0) {
    return values[0];
  } else {
    const Vector swapped = butterfly<kDistance>(values, std::make_integer_sequence<int, kLanes>{});
    return reduce<kLanes, kDistance / 2>(join(values, swapped), join);
  }
}

template <int kLanes, class Vector>
float hsum(Vector values) {
  return reduce<kLanes>(values, [](Vector a, Vector b) { return a + b; });
}

template <int kLanes, class Vector>
float hmax(Vector values) {
  return reduce<kLanes>(values, [](Vector a, Vector b) { return a > b ? a : b; });
}

template <int kLanes, class Vector>
float hmin(Vector values) {
  return reduce<kLanes>(values, [](Vector a, Vector b) { return a < b ? a : b; });
}

/// Transposes 2 × 2 blocks of kDistance lanes in rows a and b.
template <int kDistance, class Vector, int... kLane>
void exchange_squares(Vector& a, Vector& b, std::integer_sequence<int, kLane...>) {
  constexpr int kLanes = sizeof...(kLane);
  const Vector left =
      shuffled<((kLane & kDistance) != 0 ? kLanes + kLane - kDistance : kLane)...>(a, b);
  b = shuffled<((kLane & kDistance) != 0 ? kLanes + kLane : kLane + kDistance)...>(a, b);
  a = left;
}

/// Row i becomes column i.
template <int kLanes, int kDistance = 1, class Vector>
void transpose(Vector (&rows)[kLanes]) {
  if constexpr (kDistance < kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if ((i & kDistance) != 0) continue;
      exchange_squares<kDistance>(rows[i], rows[i + kDistance],
                                  std::make_integer_sequence<int, kLanes>{});
    }
    transpose<kLanes, 2 * kDistance>(rows);
  }
}

}  // namespace
}  // namespace kernels
// NOLINTEND(bugprone-signed-bitwise)
