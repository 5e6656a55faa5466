// Tiles of AMX (Intel): matrices of 16 rows of 64 bytes in eight registers. Included by files that
// are compiled for AMX, see tile.h.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "matmul/kernel.h"
#include "matmul/tiling.h"

namespace kernels {
namespace {

constexpr int kTileRows = 16;
constexpr int64_t kTileRowBytes = 64;
/// Columns of a result: 32-bit sums in a row of a register.
constexpr int64_t kTileColumns = 16;
constexpr int64_t kPanelColumns = 2 * kTileColumns;
constexpr int64_t kPanelRowBytes = 2 * kTileRowBytes;
/// Rows of the largest product: two registers of rows times two of columns have four sums.
constexpr int kAmxRows = 2 * kTileRows;

/// Memory layout of LDTILECFG. Source: Intel, Architecture Instruction Set Extensions Programming
/// Reference, "Intel AMX Instruction Set".
struct alignas(64) TileConfiguration {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {kTileRows, kTileRows, kTileRows, kTileRows,
                      kTileRows, kTileRows, kTileRows, kTileRows};
};
constexpr TileConfiguration kTileConfiguration;

/// See Kernel::begin: all registers get 16 rows of 64 bytes.
inline void configure_tiles() { _tile_loadconfig(&kTileConfiguration); }

/// See Kernel::end. A thread whose registers are in use is switched more slowly.
inline void release_tiles() { _tile_release(); }

/// Sums rows × panel in the registers 0 (rows 0 to 15, columns 0 to 15), 1 (columns 16 to 31), 2
/// and 3 (rows 16 to 31). `Product` multiplies: add_upper() adds register 4 times 6 to 0 and 4
/// times 7 to 1; add_lower() adds 5 times 6 to 2 and 5 times 7 to 3. kIsTall: more than 16 rows.
template <class Product, bool kIsTall>
void add_products(const Tile& tile) {
  constexpr auto kNumberBytes = static_cast<int64_t>(sizeof(typename Product::Number));
  const int64_t stride = tile.a_stride * kNumberBytes;
  const auto* a = static_cast<const char*>(tile.a);
  const auto* weights = static_cast<const char*>(tile.panel);
  const char* const end = a + tile.inputs * kNumberBytes;
  const char* prefetch = tile.prefetch;
  for (; a < end; a += kTileRowBytes, weights += kTileRows * kPanelRowBytes) {
    _tile_loadd(6, weights, kPanelRowBytes);
    _tile_loadd(7, weights + kTileRowBytes, kPanelRowBytes);
    _tile_loadd(4, a, stride);
    Product::add_upper();
    if constexpr (kIsTall) {
      _tile_loadd(5, a + kTileRows * stride, stride);
      Product::add_lower();
    }
    const char* const until = prefetch + tile.prefetch_step;
    for (; prefetch < until; prefetch += kLineBytes) __builtin_prefetch(prefetch, 0, 2);
  }
}

/// Stores the sums: [16 or 32, columns of the panel]. stride: row stride in bytes.
template <bool kIsTall>
void store_sums(void* to, int64_t stride) {
  auto* const sums = static_cast<char*>(to);
  _tile_stored(0, sums, stride);
  _tile_stored(1, sums + kTileRowBytes, stride);
  if constexpr (kIsTall) {
    _tile_stored(2, sums + kTileRows * stride, stride);
    _tile_stored(3, sums + kTileRows * stride + kTileRowBytes, stride);
  }
}

/// Starts the sums of each row with the same 32-bit values of the panel's columns: a stride of 0
/// repeats them.
template <bool kIsTall>
void start_sums(const void* first) {
  const auto* const columns = static_cast<const char*>(first);
  _tile_loadd(0, columns, 0);
  _tile_loadd(1, columns + kTileRowBytes, 0);
  if constexpr (kIsTall) {
    _tile_loadd(2, columns, 0);
    _tile_loadd(3, columns + kTileRowBytes, 0);
  }
}

/// Functions for 1 … kAmxRows rows.
struct AmxTiles {
  TileFunction of_rows[kAmxRows];
};

template <class Product, int... kIndex>
constexpr AmxTiles amx_tiles_of(std::integer_sequence<int, kIndex...>) noexcept {
  return {{Product::template compute<kIndex + 1>...}};
}

template <class Product>
constexpr AmxTiles kAmxTiles = amx_tiles_of<Product>(std::make_integer_sequence<int, kAmxRows>{});

}  // namespace
}  // namespace kernels
