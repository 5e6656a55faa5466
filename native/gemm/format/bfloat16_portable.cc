// For every other processor, and what the other kernels are held against.
#include <bit>

#include "format/bfloat16.h"
#include "format/tile.h"
#include "format/widen.h"
#include "processor/compiled_for.h"
#include "processor/simd_portable.h"

namespace gemm {
namespace {

using Floats = Simd::Vector;
typedef uint32_t Pairs __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
constexpr int64_t kWidth = int64_t{2} * Simd::kLanes;

/// `value` becomes what its bfloat16 number lacks.
uint16_t take_part(float& value) {
  const uint16_t part = round_to_bfloat16(value);
  value -= widen_bfloat16(part);
  return part;
}

/// Of each pair the number in the low half of the 32 bits, and the one in the high half.
Floats low(Pairs pairs) { return (Floats)(pairs << 16); }
Floats high(Pairs pairs) { return (Floats)(pairs & 0xffff0000U); }

/// The products of a part of a row, from an input on, and a part of two rows of a panel.
struct Step {
  Floats even[2], odd[2];

  void add(const uint16_t* a, const uint16_t* panel) {
    int32_t pair;
    std::memcpy(&pair, a, sizeof pair);
    const auto factor = (Pairs)Simd::broadcast(pair);
    for (int half = 0; half < 2; ++half) {
      const auto weights = (Pairs)Simd::load(static_cast<const void*>(panel + half * kWidth));
      even[half] += low(factor) * low(weights);
      odd[half] += high(factor) * high(weights);
    }
  }
};

void compute_row(const Tile& tile, const PartProducts& all, int64_t row) {
  Floats sums[2] = {Simd::load(tile.bias), Simd::load(tile.bias + Simd::kLanes)};
  const auto* const a = static_cast<const uint16_t*>(tile.a) + row * tile.a_stride;
  const auto* const panel = static_cast<const uint16_t*>(tile.panel);
  for (int64_t k = 0; k < tile.inputs; k += kPair) {
    Step step{};  // small products first: rounded to the sum only once
    for (int i = 0; i < all.count; ++i) {
      step.add(a + all.products[i].x * tile.a_parts.size + k,
               panel + all.products[i].weight * tile.panel_parts.size + k * kWidth);
    }
    for (int half = 0; half < 2; ++half) sums[half] += step.even[half] + step.odd[half];
  }
  std::memcpy(tile.c + row * tile.c_stride, sums, sizeof sums);
}

void compute_rows(const Tile& tile) {
  const PartProducts all = part_products(tile.a_parts.count, tile.panel_parts.count);
  for (int64_t row = 0; row < tile.rows; ++row) compute_row(tile, all, row);
}

RowScale round_row(const float* from, int64_t count, uint16_t* to, Parts parts) {
  for (int64_t i = 0; i < count; ++i) {
    float value = from[i];
    for (int part = 0; part < parts.count; ++part) to[part * parts.size + i] = take_part(value);
  }
  return {};
}

float stored_value(const StoredPanel& panel, int64_t index) {
  if (panel.storage == Storage::kFloat32) return static_cast<const float*>(panel.stored)[index];
  const uint16_t bits = static_cast<const uint16_t*>(panel.stored)[index];
  return panel.storage == Storage::kFloat16 ? widen_float16(bits) : widen_bfloat16(bits);
}

void split_panel(const StoredPanel& panel) {
  const int64_t part_size = panel.filled * kWidth;
  for (int64_t k = 0; k < panel.filled; ++k) {
    for (int64_t j = 0; j < kWidth; ++j) {
      float value = k < panel.inputs ? stored_value(panel, k * kWidth + j) : 0;
      uint16_t* const to = panel.to + (k / kPair * kWidth + j) * kPair + k % kPair;
      for (int part = 0; part < panel.parts; ++part) to[part * part_size] = take_part(value);
    }
  }
}

constexpr TileFunction kOfRows[] = {compute_rows, compute_rows, compute_rows, compute_rows};

constexpr Kernel make_kernel(const char* name) noexcept {
  return {.name = name,
          .needs = kCompiledFor,
          .panel_width = kWidth,
          .tile_rows = 4,
          .value_bytes = sizeof(uint16_t),
          .inputs_together = kPair,
          .inputs_a_step = kPair,
          .tiles = kOfRows,
          .round_rows = round_each<uint16_t, round_row>,
          .split_panel = split_panel};
}

}  // namespace

uint16_t round_to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  constexpr uint32_t kQuiet = 0x40;  // makes a NaN whose low half is cut off stay one
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const uint32_t up = bits + 0x7fff + (bits >> 16 & 1);
  return static_cast<uint16_t>(is_nan ? bits >> 16 | kQuiet : up >> 16);
}

constinit const Kernel kBFloat16Portable = make_kernel("bfloat16 portable");
constinit const Kernel kSplitPortable = make_kernel("split portable");

}  // namespace gemm
