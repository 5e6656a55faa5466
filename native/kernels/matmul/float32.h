// The float32 tile. Weights are stored as float32, or in 16 bits and widened when they are loaded.
// Included by files that are compiled for different instruction sets, see tile.h.
#pragma once

#include "matmul/tile.h"

namespace kernels {
namespace {

/// Weights: the stored type, `Stored`, and load() of a vector of it.
template <class Simd, class Weights>
struct Float32Product : FloatSums<Simd> {
  using Number = float;
  using Weight = Weights::Stored;
  using Vector = Simd::Vector;
  static constexpr int kGroup = 1;
  static Vector load(const Weight* from) { return Weights::load(from); }
  static Vector broadcast(const Number* from) { return Simd::broadcast(from); }
  static Vector add_product(Vector sum, Vector factor, Vector weights) {
    return sum + factor * weights;
  }
};

template <class Simd>
struct StoredFloat32 {
  using Stored = float;
  static Simd::Vector load(const Stored* from) { return Simd::load(from); }
};

template <class Simd, class Float16, class BFloat16, int kRows>
constexpr Kernel float32_kernel(const char* name, Instructions needs) noexcept {
  return {.name = name,
          .needs = needs,
          .nr = 2 * Simd::kLanes,
          .mr = kRows,
          .value_bytes = sizeof(float),
          .tiles = kTiles<Float32Product<Simd, StoredFloat32<Simd>>, kRows>.of_rows,
          .float16_tiles = kTiles<Float32Product<Simd, Float16>, kRows>.of_rows,
          .bfloat16_tiles = kTiles<Float32Product<Simd, BFloat16>, kRows>.of_rows};
}

}  // namespace
}  // namespace kernels
