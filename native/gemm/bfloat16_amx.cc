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

template <bool kIsTall>
void compute_tile(const BFloat16Tile& tile) {
  begin_sums<kIsTall>(tile.bias);
  add_products<kIsTall>(
      tile, [](auto sum, auto rows, auto columns) { multiply_bfloat16<sum, rows, columns>(); });
  store_rows<kIsTall>(tile.c, tile.c_stride, tile.rows);
}

constexpr FunctionsByRows<BFloat16TileFunction> kTiles{compute_tile<false>, compute_tile<true>};

}  // namespace

constinit const BFloat16Kernel kBFloat16AmxKernel{.name = "bfloat16 amx",
                                                  .needs = kCompiledFor,
                                                  .panel_width = kPanelWidth,
                                                  .tile_rows = kRows,
                                                  .row_step = kTileSide,
                                                  .inputs_together = kStep,
                                                  .tiles = kTiles.of_rows,
                                                  .round = round,
                                                  .round_panel = round_panel,
                                                  .begin = begin_tiles,
                                                  .end = end_tiles};

}  // namespace gemm
