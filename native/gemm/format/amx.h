// The instructions of AMX: eight registers of 16 rows of 64 bytes, and products of them. Written as
// assembly, for the compilers' own functions do not say that they read and write memory (GCC 12).
// Tiles are numbers that the instruction holds. Included by files that are compiled for AMX.
#pragma once

#include <cstdint>
#include <type_traits>

#include "format/kernel.h"

namespace gemm {
namespace {

/// Rows of a tile; also 32-bit numbers in one, which are the columns of a result.
constexpr int64_t kTileSide = 16;
constexpr int64_t kTileRowBytes = 64;

/// Of a kernel's tile: two by two of these, so that each that is read is multiplied twice.
constexpr int64_t kAmxRows = 2 * kTileSide;
constexpr int64_t kAmxWidth = 2 * kTileSide;

/// Of a panel: two tiles side by side.
constexpr int64_t kPanelRowBytes = 2 * kTileRowBytes;

/// Of a panel that one step of a product reads.
constexpr int64_t kStepBytes = kTileSide * kPanelRowBytes;

/// LDTILECFG's operand.
struct alignas(64) TileConfiguration {
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};

/// How the tiles are used here: the sums of 32 rows and 32 columns, and the factors of one step.
enum TileUse : uint8_t { kSums = 0, kFirstRows = 4, kLastRows = 5, kLeft = 6, kRight = 7 };

/// Makes the tiles usable on this thread, until end_tiles(), for products of `rows` rows, at least
/// 1: the processor raises an exception for a tile of bytes without rows. Of fewer than 16 rows no
/// others are read, multiplied or written.
inline void begin_tiles(int64_t rows) {
  TileConfiguration configuration{};
  configuration.palette = 1;
  for (int tile = kSums; tile <= kRight; ++tile) {
    const bool is_weights = tile == kLeft || tile == kRight;
    configuration.rows[tile] =
        static_cast<uint8_t>(is_weights || rows > kTileSide ? kTileSide : rows);
    configuration.row_bytes[tile] = kTileRowBytes;
  }
  asm volatile("ldtilecfg %0" : : "m"(configuration) : "memory");
}

/// From here on the system has no tiles to keep for this thread.
inline void end_tiles() { asm volatile("tilerelease" : : : "memory"); }

template <int kTile>
void load_tile(const void* from, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
}

template <int kTile>
void store_tile(void* to, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
}

template <int kTile>
void zero_tile() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile) : "memory");
}

/// sums += a × b, of pairs of bfloat16: each column of a sum is multiplied with two rows of 32
/// bits. What is subnormal counts as 0.
template <int kTo, int kA, int kB>
void multiply_bfloat16() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kTo), "i"(kA), "i"(kB) : "memory");
}

/// The same of four integers of 8 bits, those of a without a sign.
template <int kTo, int kA, int kB>
void multiply_int8() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kTo), "i"(kA), "i"(kB) : "memory");
}

/// The number of a tile, for functions that choose an instruction by it.
template <int kTile>
using TileNumber = std::integral_constant<int, kTile>;

inline void prefetch_bytes(const char* from, int64_t count) {
  for (int64_t i = 0; i < count; i += kTileRowBytes) __builtin_prefetch(from + i, 0, 2);
}

/// sums += a × panel, for the inputs of a tile whose rows are Numbers. multiply(sum, rows, columns)
/// is called with the numbers of three tiles. kIsTall: of 17 to 32 rows, else up to 16.
template <bool kIsTall, class Number, class Multiply>
void add_products(const Tile& tile, const Multiply& multiply) {
  constexpr auto kNumberBytes = static_cast<int64_t>(sizeof(Number));
  const int64_t stride = tile.a_stride * kNumberBytes;
  const auto* const a = static_cast<const Number*>(tile.a);
  const auto* panel = static_cast<const char*>(tile.panel);
  const char* prefetch = tile.prefetch;
  for (int64_t k = 0; k < tile.inputs; k += kTileRowBytes / kNumberBytes, panel += kStepBytes) {
    prefetch_bytes(prefetch, tile.prefetch_step);
    prefetch += tile.prefetch_step;
    load_tile<kLeft>(panel, kPanelRowBytes);
    load_tile<kFirstRows>(a + k, stride);
    multiply(TileNumber<kSums>(), TileNumber<kFirstRows>(), TileNumber<kLeft>());
    load_tile<kRight>(panel + kTileRowBytes, kPanelRowBytes);
    multiply(TileNumber<kSums + 1>(), TileNumber<kFirstRows>(), TileNumber<kRight>());
    if constexpr (kIsTall) {
      load_tile<kLastRows>(a + kTileSide * tile.a_stride + k, stride);
      multiply(TileNumber<kSums + 2>(), TileNumber<kLastRows>(), TileNumber<kLeft>());
      multiply(TileNumber<kSums + 3>(), TileNumber<kLastRows>(), TileNumber<kRight>());
    }
  }
}

/// What computes tiles of 1 to 32 rows: one function of up to 16, and one of more.
struct FunctionsByRows {
  TileFunction of_rows[kAmxRows];

  constexpr FunctionsByRows(TileFunction low, TileFunction tall) noexcept : of_rows{} {
    for (int64_t i = 0; i < kAmxRows; ++i) of_rows[i] = i < kTileSide ? low : tall;
  }
};

template <bool kIsTall>
void zero_sums() {
  zero_tile<kSums>();
  zero_tile<kSums + 1>();
  if constexpr (kIsTall) {
    zero_tile<kSums + 2>();
    zero_tile<kSums + 3>();
  }
}

/// Every row of a tile of sums begins as the bias: that is a stride of 0.
template <bool kIsTall>
void begin_sums(const float* bias) {
  load_tile<kSums>(bias, 0);
  load_tile<kSums + 1>(bias + kTileSide, 0);
  if constexpr (kIsTall) {
    load_tile<kSums + 2>(bias, 0);
    load_tile<kSums + 3>(bias + kTileSide, 0);
  }
}

/// The sums of 16 or 32 rows and 32 columns, to memory.
template <bool kIsTall, class Number>
void store_sums(Number* to, int64_t stride) {
  const int64_t stride_bytes = stride * static_cast<int64_t>(sizeof(Number));
  store_tile<kSums>(to, stride_bytes);
  store_tile<kSums + 1>(to + kTileSide, stride_bytes);
  if constexpr (kIsTall) {
    store_tile<kSums + 2>(to + kTileSide * stride, stride_bytes);
    store_tile<kSums + 3>(to + kTileSide * stride + kTileSide, stride_bytes);
  }
}

/// The same of as many rows as are wanted; memory behind them is not touched.
template <bool kIsTall>
void store_rows(float* to, int64_t stride, int64_t rows) {
  constexpr int64_t kMax = kIsTall ? kAmxRows : kTileSide, kColumns = kAmxWidth;
  if (rows == kMax) {
    store_sums<kIsTall>(to, stride);
    return;
  }
  alignas(kTileRowBytes) float sums[kMax * kColumns];
  store_sums<kIsTall>(sums, kColumns);
  for (int64_t row = 0; row < rows; ++row) {
    __builtin_memcpy(to + row * stride, sums + row * kColumns, kColumns * sizeof(float));
  }
}

}  // namespace
}  // namespace gemm
