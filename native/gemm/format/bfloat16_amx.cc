// AMX: 16 × 16 sums of 32 products each by one instruction. Of factors that are sums of bfloat16
// numbers, the products of all pairs of parts that matter come to the same sums, and a tile that is
// read is multiplied with up to three parts of the other factor.
#include "format/amx.h"
#include "format/bfloat16.h"
#include "format/bfloat16_avx512.h"
#include "processor/compiled_for.h"

namespace gemm {
namespace {

constexpr int64_t kStep = kTileRowBytes / sizeof(uint16_t);

/// Where a step of the product begins, of the first parts.
struct Step {
  const uint16_t* a;
  const char* panel;
};

template <bool kIsTall>
void load_rows(const Tile& tile, const uint16_t* a) {
  const int64_t stride = tile.a_stride * static_cast<int64_t>(sizeof(uint16_t));
  load_tile<kFirstRows>(a, stride);
  if constexpr (kIsTall) load_tile<kLastRows>(a + kTileSide * tile.a_stride, stride);
}

template <bool kIsTall>
void multiply_parts() {
  multiply_bfloat16<kSums, kFirstRows, kLeft>();
  multiply_bfloat16<kSums + 1, kFirstRows, kRight>();
  if constexpr (kIsTall) {
    multiply_bfloat16<kSums + 2, kLastRows, kLeft>();
    multiply_bfloat16<kSums + 3, kLastRows, kRight>();
  }
}

/// The products from this one on; a factor that the one before had is still in its tiles.
template <bool kIsTall, int kXParts, int kWeightParts, int kIndex = 0>
void multiply_from(const Tile& tile, const Step& step) {
  constexpr PartProducts kAll = part_products(kXParts, kWeightParts);
  if constexpr (kIndex < kAll.count) {
    constexpr auto kNow = kAll.products[kIndex];
    constexpr auto kBefore = kAll.products[kIndex > 0 ? kIndex - 1 : 0];
    if constexpr (kIndex == 0 || kNow.weight != kBefore.weight) {
      const char* const panel =
          step.panel + kNow.weight * tile.panel_parts.size * static_cast<int64_t>(sizeof(uint16_t));
      load_tile<kLeft>(panel, kPanelRowBytes);
      load_tile<kRight>(panel + kTileRowBytes, kPanelRowBytes);
    }
    if constexpr (kIndex == 0 || kNow.x != kBefore.x) {
      load_rows<kIsTall>(tile, step.a + kNow.x * tile.a_parts.size);
    }
    multiply_parts<kIsTall>();
    multiply_from<kIsTall, kXParts, kWeightParts, kIndex + 1>(tile, step);
  }
}

template <bool kIsTall, int kXParts, int kWeightParts>
void compute_sums(const Tile& tile) {
  Step step{.a = static_cast<const uint16_t*>(tile.a),
            .panel = static_cast<const char*>(tile.panel)};
  const char* prefetch = tile.prefetch;
  for (int64_t k = 0; k < tile.inputs; k += kStep) {
    prefetch_bytes(prefetch, tile.prefetch_step);
    prefetch += tile.prefetch_step;
    multiply_from<kIsTall, kXParts, kWeightParts>(tile, step);
    step.a += kStep;
    step.panel += kStepBytes;
  }
}

template <bool kIsTall>
void compute_parts(const Tile& tile) {
  const int panel_parts = tile.panel_parts.count;
  if (tile.a_parts.count == 1) {
    add_products<kIsTall, uint16_t>(
        tile, [](auto sum, auto rows, auto columns) { multiply_bfloat16<sum, rows, columns>(); });
  } else if (tile.a_parts.count == 2) {
    if (panel_parts == 1) {
      compute_sums<kIsTall, 2, 1>(tile);
    } else {
      compute_sums<kIsTall, 2, 2>(tile);
    }
  } else if (panel_parts == 1) {
    compute_sums<kIsTall, 3, 1>(tile);
  } else if (panel_parts == 2) {
    compute_sums<kIsTall, 3, 2>(tile);
  } else {
    compute_sums<kIsTall, 3, 3>(tile);
  }
}

template <bool kIsTall>
void compute_of_height(const Tile& tile) {
  begin_sums<kIsTall>(tile.bias);
  compute_parts<kIsTall>(tile);
  store_rows<kIsTall>(tile.c, tile.c_stride, tile.rows);
}

constexpr FunctionsByRows kTilesByRows{compute_of_height<false>, compute_of_height<true>};

constexpr Kernel make_kernel(const char* name,
                             decltype(Kernel::round_exponentials) round_exponentials) noexcept {
  return {.name = name,
          .needs = kCompiledFor,
          .panel_width = kAmxWidth,
          .tile_rows = kAmxRows,
          .row_step = kTileSide,
          .value_bytes = sizeof(uint16_t),
          .inputs_together = kStep,
          .inputs_a_step = kStep,
          .tiles = kTilesByRows.of_rows,
          .round_rows = round_each<uint16_t, round_row>,
          .round_exponentials = round_exponentials,
          .split_panel = split_panel,
          .begin = begin_tiles,
          .end = end_tiles};
}

}  // namespace

constinit const Kernel kBFloat16Amx = make_kernel("bfloat16 amx", round_exponentials);
constinit const Kernel kSplitAmx = make_kernel("split amx", nullptr);

}  // namespace gemm
