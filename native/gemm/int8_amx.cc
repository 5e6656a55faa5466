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
  zero_tile<kSums>();
  zero_tile<kSums + 1>();
  if constexpr (kIsTall) {
    zero_tile<kSums + 2>();
    zero_tile<kSums + 3>();
  }
  add_products<kIsTall>(
      tile, [](auto sum, auto rows, auto columns) { multiply_int8<sum, rows, columns>(); });
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

constexpr FunctionsByRows<Int8TileFunction> kTiles{compute_tile<false>, compute_tile<true>};

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
