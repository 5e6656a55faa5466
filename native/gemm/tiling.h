// What both kinds of product know of tiles.
#pragma once

#include <cstdint>

namespace gemm {

/// Of all kernels.
constexpr int kMostTileRows = 12;
constexpr int kWidestPanel = 32;

inline int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace gemm
