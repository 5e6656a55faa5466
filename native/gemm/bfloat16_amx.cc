// AMX: 16 × 16 sums of 32 products each by one instruction. Two by two of them are used at a time,
// so that each tile that is read is multiplied twice.
#include "amx.h"
#include "bfloat16_avx512.h"
#include "bfloat16_kernel.h"
#include "compiled_for.h"

namespace gemm {
namespace {

constexpr int64_t kRows = 2 * kTileSide;
constexpr int64_t kStep = kTileRowBytes / sizeof(uint16_t);
constexpr int64_t kPanelWidth = 2 * kTileSide;

/// kIsTall: of 17 to 32 rows, else up to 16.
template <bool kIsTall>
void compute_tile(const BFloat16Tile& tile) {
  const int64_t stride = tile.a_stride * static_cast<int64_t>(sizeof(uint16_t));
  const auto* panel = reinterpret_cast<const char*>(tile.panel);
  const char* prefetch = tile.prefetch;
  begin_sums<kIsTall>(tile.bias);
  for (int64_t k = 0; k < tile.inputs; k += kStep, panel += kStepBytes) {
    prefetch_bytes(prefetch, tile.prefetch_step);
    prefetch += tile.prefetch_step;
    load_tile<kLeft>(panel, kPanelRowBytes);
    load_tile<kFirstRows>(tile.a + k, stride);
    multiply_bfloat16<kSums, kFirstRows, kLeft>();
    load_tile<kRight>(panel + kTileRowBytes, kPanelRowBytes);
    multiply_bfloat16<kSums + 1, kFirstRows, kRight>();
    if constexpr (kIsTall) {
      load_tile<kLastRows>(tile.a + kTileSide * tile.a_stride + k, stride);
      multiply_bfloat16<kSums + 2, kLastRows, kLeft>();
      multiply_bfloat16<kSums + 3, kLastRows, kRight>();
    }
  }
  store_rows<kIsTall>(tile.c, tile.c_stride, tile.rows);
}

struct Tiles {
  BFloat16TileFunction of_rows[kRows];
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

constinit const BFloat16Kernel kBFloat16AmxKernel{.name = "bfloat16 amx",
                                                  .needs = kCompiledFor,
                                                  .panel_width = kPanelWidth,
                                                  .tile_rows = kRows,
                                                  .row_step = kTileSide,
                                                  .inputs_together = kStep,
                                                  .tiles = kTiles.of_rows,
                                                  .round = round,
                                                  .begin = begin_tiles,
                                                  .end = end_tiles};

}  // namespace gemm
