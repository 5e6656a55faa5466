// What the lanes of a vector come to, and a square of them turned. Included by files that are
// compiled for different instructions: see format/tile.h.
#pragma once

#include <utility>

// Lanes have numbers from 0 on: their bits are those of unsigned ones.
// NOLINTBEGIN(bugprone-signed-bitwise)
namespace kernels {
namespace {

/// Of the lanes of a and then of b, those with these numbers.
template <int... kLane, class Vector>
Vector shuffled(Vector a, Vector b) {
#if __has_builtin(__builtin_shufflevector)
  return __builtin_shufflevector(a, b, kLane...);
#else  // GCC 11
  typedef int Lanes __attribute__((vector_size(sizeof(Vector))));  // NOLINT(modernize-use-using)
  return __builtin_shuffle(a, b, Lanes{kLane...});
#endif
}

template <int kDistance, class Vector, int... kLane>
Vector exchanged(Vector values, std::integer_sequence<int, kLane...>) {
  return shuffled<(kLane ^ kDistance)...>(values, values);
}

/// All lanes joined into one: pairs, pairs of pairs, and so on.
template <int kLanes, int kDistance = kLanes / 2, class Vector, class Join>
float joined(Vector values, const Join& join) {
  if constexpr (kDistance == 0) {
    return values[0];
  } else {
    const Vector others = exchanged<kDistance>(values, std::make_integer_sequence<int, kLanes>{});
    return joined<kLanes, kDistance / 2>(join(values, others), join);
  }
}

template <int kLanes, class Vector>
float sum_of(Vector values) {
  return joined<kLanes>(values, [](Vector a, Vector b) { return a + b; });
}

template <int kLanes, class Vector>
float highest_of(Vector values) {
  return joined<kLanes>(values, [](Vector a, Vector b) { return a > b ? a : b; });
}

template <int kLanes, class Vector>
float lowest_of(Vector values) {
  return joined<kLanes>(values, [](Vector a, Vector b) { return a < b ? a : b; });
}

/// Of squares of kDistance lanes, those on the left side of a and b, and those on the right.
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
