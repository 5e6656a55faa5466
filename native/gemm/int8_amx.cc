// AMX: 16 × 16 sums of 64 products each by one instruction; see bfloat16_amx.cc.
#include "amx.h"
#include "compiled_for.h"
#include "int8_avx512.h"
#include "int8_tiles.h"

namespace gemm {
namespace {

constexpr int64_t kRows = 2 * kTileSide;
constexpr int64_t kStep = kTileRowBytes;
constexpr int64_t kPanelWidth = 2 * kTileSide;

/// kIsTall: of 17 to 32 rows, else up to 16. Exact: what int8_tiles.h has in another order.
template <bool kIsTall>
void compute_sums(const Int8Tile& tile, int32_t* sums) {
  const auto* panel = reinterpret_cast<const char*>(tile.panel);
  const char* prefetch = tile.prefetch;
  zero_tile<kSums>();
  zero_tile<kSums + 1>();
  if constexpr (kIsTall) {
    zero_tile<kSums + 2>();
    zero_tile<kSums + 3>();
  }
  for (int64_t k = 0; k < tile.inputs; k += kStep, panel += kStepBytes) {
    prefetch_bytes(prefetch, tile.prefetch_step);
    prefetch += tile.prefetch_step;
    load_tile<kLeft>(panel, kPanelRowBytes);
    load_tile<kFirstRows>(tile.a + k, tile.a_stride);
    multiply_int8<kSums, kFirstRows, kLeft>();
    load_tile<kRight>(panel + kTileRowBytes, kPanelRowBytes);
    multiply_int8<kSums + 1, kFirstRows, kRight>();
    if constexpr (kIsTall) {
      load_tile<kLastRows>(tile.a + kTileSide * tile.a_stride + k, tile.a_stride);
      multiply_int8<kSums + 2, kLastRows, kLeft>();
      multiply_int8<kSums + 3, kLastRows, kRight>();
    }
  }
  store_sums<kIsTall>(sums, kPanelWidth);
}

template <bool kIsTall>
void compute_tile(const Int8Tile& tile) {
  alignas(kTileRowBytes) int32_t sums[kRows * kPanelWidth];
  compute_sums<kIsTall>(tile, sums);
  for (int half = 0; half < 2; ++half) {
    const OutputScales<Simd> outputs(tile, half);
    for (int64_t row = 0; row < tile.rows; ++row) {
      outputs.store(tile, row, Simd::load(sums + row * kPanelWidth + half * kTileSide));
    }
  }
}

struct Tiles {
  Int8TileFunction of_rows[kRows];
};

constexpr Tiles make_tiles() noexcept {
  Tiles tiles{};
  for (int64_t i = 0; i < kRows; ++i) {
    tiles.of_rows[i] = i < kTileSide ? compute_tile<false> : compute_tile<true>;
  }
  return tiles;
}

constexpr Tiles kTiles = make_tiles();

}  // namespace

constinit const Int8Kernel kInt8AmxKernel{.name = "int8 amx",
                                          .needs = kCompiledFor,
                                          .panel_width = kPanelWidth,
                                          .tile_rows = kRows,
                                          .row_step = kTileSide,
                                          .inputs_together = kStep,
                                          .tiles = kTiles.of_rows,
                                          .quantize = quantize_row<Simd>,
                                          .begin = begin_tiles,
                                          .end = end_tiles};

}  // namespace gemm
