// int8 with AMX: one instruction adds the products of 16 rows of 64 values and 16 columns.
#include "cpu/compiled_for.h"
#include "cpu/simd_avx512.h"
#include "matmul/amx.h"
#include "matmul/int8.h"

namespace kernels {
namespace {

struct Product {
  using Number = uint8_t;

  static void add_upper() {
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 4, 7);
  }
  static void add_lower() {
    _tile_dpbusd(2, 5, 6);
    _tile_dpbusd(3, 5, 7);
  }

  /// Sums start at 0. They are converted to float32 after they have left the registers.
  template <int kRows>
  static void compute(const Tile& tile) {
    constexpr bool kIsTall = kRows > kTileRows;
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kIsTall) {
      _tile_zero(2);
      _tile_zero(3);
    }
    alignas(kLineBytes) int32_t sums[kAmxRows * kPanelColumns];
    add_products<Product, kIsTall>(tile);
    store_sums<kIsTall>(sums, kPanelRowBytes);
    for (int half = 0; half < 2; ++half) {
      const OutputScales<Simd> outputs(tile, half);
      const int32_t* from = sums + int64_t{half} * Simd::kLanes;
      for (int row = 0; row < kRows; ++row, from += kPanelColumns) {
        outputs.store(tile, row, Simd::load(static_cast<const void*>(from)));
      }
    }
  }
};

template <Int8Range kRange>
constexpr Kernel amx_kernel(const char* name, const Kernel& for_attention) noexcept {
  return {.name = name,
          .needs = kCompiledFor,
          .nr = kPanelColumns,
          .mr = kAmxRows,
          .value_bytes = sizeof(uint8_t),
          .kr = static_cast<int>(kTileRowBytes),
          .k_step = static_cast<int>(kTileRowBytes),
          .row_step = kTileRows,
          .tiles = kAmxTiles<Product>.of_rows,
          .pack_a = pack_rows<uint8_t, quantize_row<Simd, kRange.max_value>>,
          .begin = configure_tiles,
          .end = release_tiles,
          .for_attention = &for_attention};
}

}  // namespace

constinit const Kernel kInt8Amx = amx_kernel<kSevenBits>("int8 amx", kInt8Avx512);

constinit const Kernel kInt8VnniAmx = amx_kernel<kEightBits>("int8-vnni amx", kInt8VnniAvx512);

}  // namespace kernels
