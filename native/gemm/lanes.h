// What the lanes of a vector come to, and a square of them turned. Included by files that are
// compiled for different instructions: see tiles.h.
#pragma once

#include <cstddef>
#include <utility>

namespace gemm {
namespace {

template <int kDistance, class Vector, size_t... kLane>
Vector exchanged(Vector values, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(values, values, static_cast<int>(kLane ^ kDistance)...);
}

/// All lanes joined into one: pairs, pairs of pairs, and so on.
template <int kLanes, int kDistance = kLanes / 2, class Vector, class Join>
float joined(Vector values, const Join& join) {
  if constexpr (kDistance == 0) {
    return values[0];
  } else {
    const Vector others = exchanged<kDistance>(values, std::make_index_sequence<kLanes>{});
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
template <int kDistance, class Vector, size_t... kLane>
void exchange_squares(Vector& a, Vector& b, std::index_sequence<kLane...>) {
  constexpr size_t kLanes = sizeof...(kLane);
  const Vector left = __builtin_shufflevector(
      a, b, static_cast<int>((kLane & kDistance) != 0 ? kLanes + kLane - kDistance : kLane)...);
  b = __builtin_shufflevector(
      a, b, static_cast<int>((kLane & kDistance) != 0 ? kLanes + kLane : kLane + kDistance)...);
  a = left;
}

/// Row i becomes column i.
template <int kLanes, int kDistance = 1, class Vector>
void transpose(Vector (&rows)[kLanes]) {
  if constexpr (kDistance < kLanes) {
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) {
      if ((i & kDistance) != 0) continue;
      exchange_squares<kDistance>(rows[i], rows[i + kDistance], std::make_index_sequence<kLanes>{});
    }
    transpose<kLanes, 2 * kDistance>(rows);
  }
}

}  // namespace
}  // namespace gemm
