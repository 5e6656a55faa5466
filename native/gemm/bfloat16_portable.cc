// For every other processor, and what the other kernels are held against.
#include <bit>
#include <cstring>

#include "bfloat16_kernel.h"
#include "compiled_for.h"

namespace gemm {
namespace {

constexpr int64_t kLanes = 4;
typedef float Floats __attribute__((vector_size(16)));    // NOLINT(modernize-use-using)
typedef uint32_t Pairs __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)

template <class Vector, class Stored>
Vector load(const Stored* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

/// Of each pair the number in the low half of the 32 bits, and the one in the high half.
Floats low(Pairs pairs) { return (Floats)(pairs << 16); }
Floats high(Pairs pairs) { return (Floats)(pairs & 0xffff0000U); }

template <int kRows>
void compute_tile(const BFloat16Tile& tile) {
  Floats sums[kRows][2];
  for (int row = 0; row < kRows; ++row) {
    for (int half = 0; half < 2; ++half) {
      sums[row][half] = load<Floats>(tile.bias + half * kLanes);
    }
  }
  const uint16_t* weights = tile.panel;
  for (int64_t k = 0; k < tile.inputs; k += kPair) {
    const auto left = load<Pairs>(weights);
    const auto right = load<Pairs>(weights + kLanes * kPair);
    weights += 2 * kLanes * kPair;
    for (int row = 0; row < kRows; ++row) {
      uint32_t pair;
      std::memcpy(&pair, tile.a + row * tile.a_stride + k, sizeof pair);
      const Pairs factor{pair, pair, pair, pair};
      sums[row][0] += high(factor) * high(left);
      sums[row][1] += high(factor) * high(right);
      sums[row][0] += low(factor) * low(left);
      sums[row][1] += low(factor) * low(right);
    }
  }
  for (int row = 0; row < kRows; ++row) {
    for (int half = 0; half < 2; ++half) {
      std::memcpy(tile.c + row * tile.c_stride + half * kLanes, &sums[row][half], sizeof(Floats));
    }
  }
}

void round(const float* from, uint16_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(from[i]);
    constexpr uint32_t kQuiet = 0x40;  // makes a NaN whose low half is cut off stay one
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    to[i] = static_cast<uint16_t>(is_nan ? bits >> 16 | kQuiet : rounded >> 16);
  }
}

void round_panel(const float* from, int64_t inputs, int64_t filled, uint16_t* to) {
  constexpr int64_t kWidth = 2 * kLanes;
  for (int64_t k = 0; k < filled; ++k, from += kWidth) {
    uint16_t row[kWidth] = {};
    if (k < inputs) round(from, row, kWidth);
    uint16_t* const pairs = to + k / kPair * kWidth * kPair + k % kPair;
    for (int64_t j = 0; j < kWidth; ++j) pairs[j * kPair] = row[j];
  }
}

constexpr BFloat16TileFunction kTiles[] = {compute_tile<1>, compute_tile<2>, compute_tile<3>,
                                           compute_tile<4>};

}  // namespace

constinit const BFloat16Kernel kPortableBFloat16Kernel{.name = "bfloat16 portable",
                                                       .needs = kCompiledFor,
                                                       .panel_width = 2 * kLanes,
                                                       .tile_rows = 4,
                                                       .tiles = kTiles,
                                                       .round = round,
                                                       .round_panel = round_panel};

}  // namespace gemm
