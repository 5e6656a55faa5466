// bfloat16 with AMX: one instruction adds the products of 16 rows of 32 values and 16 columns.
#include "cpu/compiled_for.h"
#include "matmul/amx.h"
#include "matmul/bfloat16_avx512.h"

namespace kernels {
namespace {

struct Product {
  using Number = uint16_t;

  static void add_upper() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  }
  static void add_lower() {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }

  /// Sums start with the bias.
  template <int kRows>
  static void compute(const Tile& tile) {
    constexpr bool kIsTall = kRows > kTileRows;
    start_sums<kIsTall>(tile.bias);
    add_products<Product, kIsTall>(tile);
    if constexpr (kRows % kTileRows == 0) {
      store_sums<kIsTall>(tile.c, tile.c_stride * static_cast<int64_t>(sizeof(float)));
      return;
    }
    alignas(kLineBytes) float sums[kAmxRows * kPanelColumns];
    store_sums<kIsTall>(sums, kPanelRowBytes);
    for (int64_t row = 0; row < kRows; ++row) {
      float* const to = tile.c + row * tile.c_stride;
      Simd::store(to, Simd::load(sums + row * kPanelColumns));
      Simd::store(to + kTileColumns, Simd::load(sums + row * kPanelColumns + kTileColumns));
    }
  }
};

}  // namespace

constinit const Kernel kBFloat16Amx{.name = "bfloat16 amx",
                                    .needs = kCompiledFor,
                                    .nr = kPanelColumns,
                                    .mr = kAmxRows,
                                    .value_bytes = sizeof(uint16_t),
                                    .kr = static_cast<int>(kTileRowBytes / sizeof(uint16_t)),
                                    .k_step = static_cast<int>(kTileRowBytes / sizeof(uint16_t)),
                                    .row_step = kTileRows,
                                    .tiles = kAmxTiles<Product>.of_rows,
                                    .pack_a = pack_rows<uint16_t, round_row>,
                                    .pack_exponentials = pack_exponentials,
                                    .pack_b_block = pack_b_block,
                                    .begin = configure_tiles,
                                    .end = release_tiles};

}  // namespace kernels
