// AMX: 16 × 16 sums of 64 products each by one instruction; see bfloat16_amx.cc.
#include "format/amx.h"
#include "format/int8.h"
#include "processor/compiled_for.h"
#include "processor/simd_avx512.h"

namespace gemm {
namespace {

/// kIsTall: of 17 to 32 rows, else up to 16. Exact: what tile.h has in another order.
template <bool kIsTall>
void compute_of_height(const Tile& tile) {
  alignas(kTileRowBytes) int32_t sums[kAmxRows * kAmxWidth];
  zero_sums<kIsTall>();
  add_products<kIsTall, uint8_t>(
      tile, [](auto sum, auto rows, auto columns) { multiply_int8<sum, rows, columns>(); });
  store_sums<kIsTall>(sums, kAmxWidth);
  for (int half = 0; half < 2; ++half) {
    const OutputScales<Simd> outputs(tile, half);
    for (int64_t row = 0; row < tile.rows; ++row) {
      outputs.store(tile, row, Simd::load(sums + row * kAmxWidth + half * kTileSide));
    }
  }
}

constexpr FunctionsByRows kTilesByRows{compute_of_height<false>, compute_of_height<true>};

}  // namespace

constinit const Kernel kInt8Amx{.name = "int8 amx",
                                .needs = kCompiledFor,
                                .panel_width = kAmxWidth,
                                .tile_rows = kAmxRows,
                                .row_step = kTileSide,
                                .value_bytes = 1,
                                .inputs_together = kTileRowBytes,
                                .inputs_a_step = kTileRowBytes,
                                .tiles = kTilesByRows.of_rows,
                                .round_rows = round_each<uint8_t, quantize_row<Simd>>,
                                .begin = begin_tiles,
                                .end = end_tiles};

}  // namespace gemm
