// For every other processor, and what the other kernels are held against.
#include <bit>

#include "compiled_for.h"
#include "split_kernel.h"

namespace gemm {
namespace {

constexpr int kWidth = 8;
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

void compute(const SplitTile& tile) {
  const PartProducts all = part_products(tile.a_parts, tile.panel_parts);
  for (int64_t row = 0; row < tile.rows; ++row) {
    float sums[kWidth];
    for (int j = 0; j < kWidth; ++j) sums[j] = tile.bias[j];
    for (int64_t k = 0; k < tile.inputs; ++k) {
      float product[kWidth] = {};  // small ones first: rounded to the sum only once
      for (int i = 0; i < all.count; ++i) {
        const auto [x, weight] = all.products[i];
        const float factor = widened(tile.a[x * tile.a_part_size + row * tile.a_stride + k]);
        const uint16_t* const pairs =
            tile.panel + weight * tile.panel_part_size + k / 2 * 2 * kWidth + k % 2;
        for (int64_t j = 0; j < kWidth; ++j) product[j] += factor * widened(pairs[2 * j]);
      }
      for (int j = 0; j < kWidth; ++j) sums[j] += product[j];
    }
    for (int j = 0; j < kWidth; ++j) tile.c[row * tile.c_stride + j] = sums[j];
  }
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
