// AVX512-BF16: two products are added to a sum by one instruction.
#include "bfloat16_avx512.h"

#include <immintrin.h>

#include "bfloat16_kernel.h"
#include "compiled_for.h"

namespace gemm {
namespace {

constexpr int64_t kLanes = 16;

/// Two numbers in each of the lanes.
__m512bh load_pairs(const uint16_t* from) { return (__m512bh)_mm512_loadu_si512(from); }

__m512bh broadcast_pair(const uint16_t* from) {
  int32_t pair;
  __builtin_memcpy(&pair, from, sizeof pair);
  return (__m512bh)_mm512_set1_epi32(pair);
}

template <int kRows>
void compute_tile(const BFloat16Tile& tile) {
  const uint16_t* weights = tile.panel;
  const char* prefetch = tile.prefetch;
  __m512 sums[kRows][2];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    sums[row][0] = _mm512_loadu_ps(tile.bias);
    sums[row][1] = _mm512_loadu_ps(tile.bias + kLanes);
  }
  for (int64_t k = 0; k < tile.inputs; k += kPair) {
    const __m512bh left = load_pairs(weights);
    const __m512bh right = load_pairs(weights + kLanes * kPair);
    weights += 2 * kLanes * kPair;
    __builtin_prefetch(prefetch, 0, 2);
    prefetch += tile.prefetch_step;
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const __m512bh factor = broadcast_pair(tile.a + row * tile.a_stride + k);
      sums[row][0] = _mm512_dpbf16_ps(sums[row][0], factor, left);
      sums[row][1] = _mm512_dpbf16_ps(sums[row][1], factor, right);
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    _mm512_storeu_ps(tile.c + row * tile.c_stride, sums[row][0]);
    _mm512_storeu_ps(tile.c + row * tile.c_stride + kLanes, sums[row][1]);
  }
}

constexpr BFloat16TileFunction kTiles[] = {compute_tile<1>,  compute_tile<2>,  compute_tile<3>,
                                           compute_tile<4>,  compute_tile<5>,  compute_tile<6>,
                                           compute_tile<7>,  compute_tile<8>,  compute_tile<9>,
                                           compute_tile<10>, compute_tile<11>, compute_tile<12>};

}  // namespace

constinit const BFloat16Kernel kBFloat16Avx512Kernel{.name = "bfloat16 avx512-bf16",
                                                     .needs = kCompiledFor,
                                                     .panel_width = 32,
                                                     .tile_rows = 12,
                                                     .tiles = kTiles,
                                                     .round = round,
                                                     .round_panel = round_panel};

}  // namespace gemm
