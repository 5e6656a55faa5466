// For every other processor, and what the other kernels are held against.
#include <bit>
#include <cstring>

#include "compiled_for.h"
#include "split_kernel.h"

namespace gemm {
namespace {

constexpr int64_t kLanes = 4;
constexpr int64_t kWidth = 2 * kLanes;
typedef float Floats __attribute__((vector_size(16)));    // NOLINT(modernize-use-using)
typedef uint32_t Pairs __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
constexpr int kTileRows = 4;

/// Nearest, to even where two are as near; what is too large becomes an infinity.
uint16_t rounded(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  constexpr uint32_t kQuiet = 0x40;
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const uint32_t up = bits + 0x7fff + (bits >> 16 & 1);
  return static_cast<uint16_t>(is_nan ? bits >> 16 | kQuiet : up >> 16);
}

float widened(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// `value` becomes what its bfloat16 number lacks.
uint16_t take_part(float& value) {
  const uint16_t part = rounded(value);
  value -= widened(part);
  return part;
}

float widened_float16(uint16_t bits) {
  constexpr uint32_t kFraction = 0x3ff, kExponent = 0x7c00, kSign = 0x8000;
  const uint32_t sign = (bits & kSign) << 16;
  // Both exponents shifted to their place, then made that of float32 by a multiplication: right for
  // subnormal numbers, too.
  if ((bits & kExponent) == kExponent) {
    return std::bit_cast<float>(sign | 0x7f800000U | (bits & kFraction) << 13);
  }
  const float size = std::bit_cast<float>(uint32_t{bits & 0x7fffU} << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(size));
}

template <class Vector>
Vector load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

/// Of each pair the number in the low half of the 32 bits, and the one in the high half.
Floats low(Pairs pairs) { return (Floats)(pairs << 16); }
Floats high(Pairs pairs) { return (Floats)(pairs & 0xffff0000U); }

/// The products of a part of a row, from an input on, and a part of two rows of a panel.
struct Step {
  Floats even[2], odd[2];

  void add(const uint16_t* a, const uint16_t* panel) {
    uint32_t pair;
    std::memcpy(&pair, a, sizeof pair);
    const Pairs factor{pair, pair, pair, pair};
    for (int half = 0; half < 2; ++half) {
      const auto weights = load<Pairs>(panel + half * kLanes * 2);
      even[half] += low(factor) * low(weights);
      odd[half] += high(factor) * high(weights);
    }
  }
};

void compute_row(const SplitTile& tile, const PartProducts& all, int64_t row) {
  Floats sums[2] = {load<Floats>(tile.bias), load<Floats>(tile.bias + kLanes)};
  const uint16_t* const a = tile.a + row * tile.a_stride;
  for (int64_t k = 0; k < tile.inputs; k += 2) {
    Step step{};  // small products first: rounded to the sum only once
    for (int i = 0; i < all.count; ++i) {
      step.add(a + all.products[i].x * tile.a_part_size + k,
               tile.panel + all.products[i].weight * tile.panel_part_size + k * kWidth);
    }
    for (int half = 0; half < 2; ++half) sums[half] += step.even[half] + step.odd[half];
  }
  std::memcpy(tile.c + row * tile.c_stride, sums, sizeof sums);
}

void compute(const SplitTile& tile) {
  const PartProducts all = part_products(tile.a_parts, tile.panel_parts);
  for (int64_t row = 0; row < tile.rows; ++row) compute_row(tile, all, row);
}

void split(const float* from, int64_t count, Parts parts, uint16_t* to, int64_t part_size) {
  for (int64_t i = 0; i < count; ++i) {
    float value = from[i];
    for (int part = 0; part < static_cast<int>(parts); ++part) {
      to[part * part_size + i] = take_part(value);
    }
  }
}

float stored_value(const StoredPanel& panel, int64_t index) {
  if (panel.storage == Storage::kFloat32) return static_cast<const float*>(panel.stored)[index];
  const uint16_t bits = static_cast<const uint16_t*>(panel.stored)[index];
  return panel.storage == Storage::kFloat16 ? widened_float16(bits) : widened(bits);
}

void split_panel(const StoredPanel& panel) {
  const int64_t part_size = panel.filled * kWidth;
  for (int64_t k = 0; k < panel.filled; ++k) {
    for (int64_t j = 0; j < kWidth; ++j) {
      float value = k < panel.inputs ? stored_value(panel, k * kWidth + j) : 0;
      uint16_t* const to = panel.to + (k / 2 * kWidth + j) * 2 + k % 2;
      for (int part = 0; part < panel.parts; ++part) to[part * part_size] = take_part(value);
    }
  }
}

}  // namespace

constinit const SplitKernel kPortableSplitKernel{.name = "split portable",
                                                 .needs = kCompiledFor,
                                                 .panel_width = kWidth,
                                                 .tile_rows = kTileRows,
                                                 .row_step = 1,
                                                 .inputs_together = 2,
                                                 .compute = compute,
                                                 .split = split,
                                                 .split_panel = split_panel};

}  // namespace gemm
