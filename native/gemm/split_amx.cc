// AMX: bfloat16_amx.cc's products, of all pairs of parts that matter, into the same sums. A tile
// that is read is multiplied with up to three parts of the other factor.
#include <immintrin.h>

#include "amx.h"
#include "bfloat16_avx512.h"
#include "compiled_for.h"
#include "split_kernel.h"

namespace gemm {
namespace {

constexpr int64_t kRows = 2 * kTileSide;
constexpr int64_t kStep = kTileRowBytes / sizeof(uint16_t);
constexpr int64_t kPanelWidth = 2 * kTileSide;
constexpr int64_t kLanes = 16;
constexpr int kHalf = 16;  // bits

/// Where a step of the product begins, of the first parts.
struct Step {
  const uint16_t* a;
  const char* panel;
};

template <bool kIsTall>
void load_rows(const SplitTile& tile, const uint16_t* a) {
  const int64_t stride = tile.a_stride * static_cast<int64_t>(sizeof(uint16_t));
  load_tile<kFirstRows>(a, stride);
  if constexpr (kIsTall) load_tile<kLastRows>(a + kTileSide * tile.a_stride, stride);
}

template <bool kIsTall>
void multiply_parts() {
  multiply_bfloat16<kSums, kFirstRows, kLeft>();
  multiply_bfloat16<kSums + 1, kFirstRows, kRight>();
  if constexpr (kIsTall) {
    multiply_bfloat16<kSums + 2, kLastRows, kLeft>();
    multiply_bfloat16<kSums + 3, kLastRows, kRight>();
  }
}

/// The products from this one on; a factor that the one before had is still in its tiles.
template <bool kIsTall, int kXParts, int kWeightParts, int kIndex = 0>
void multiply_from(const SplitTile& tile, const Step& step) {
  constexpr PartProducts kAll = part_products(kXParts, kWeightParts);
  if constexpr (kIndex < kAll.count) {
    constexpr auto kNow = kAll.products[kIndex];
    constexpr auto kBefore = kAll.products[kIndex > 0 ? kIndex - 1 : 0];
    if constexpr (kIndex == 0 || kNow.weight != kBefore.weight) {
      const char* const panel =
          step.panel + kNow.weight * tile.panel_part_size * static_cast<int64_t>(sizeof(uint16_t));
      load_tile<kLeft>(panel, kPanelRowBytes);
      load_tile<kRight>(panel + kTileRowBytes, kPanelRowBytes);
    }
    if constexpr (kIndex == 0 || kNow.x != kBefore.x) {
      load_rows<kIsTall>(tile, step.a + kNow.x * tile.a_part_size);
    }
    multiply_parts<kIsTall>();
    multiply_from<kIsTall, kXParts, kWeightParts, kIndex + 1>(tile, step);
  }
}

template <bool kIsTall, int kXParts, int kWeightParts>
void compute_sums(const SplitTile& tile) {
  Step step{.a = tile.a, .panel = reinterpret_cast<const char*>(tile.panel)};
  const char* prefetch = tile.prefetch;
  for (int64_t k = 0; k < tile.inputs; k += kStep) {
    prefetch_bytes(prefetch, tile.prefetch_step);
    prefetch += tile.prefetch_step;
    multiply_from<kIsTall, kXParts, kWeightParts>(tile, step);
    step.a += kStep;
    step.panel += kStepBytes;
  }
}

template <bool kIsTall>
void compute_of_height(const SplitTile& tile) {
  begin_sums<kIsTall>(tile.bias);
  if (tile.a_parts == 2) {
    if (tile.panel_parts == 1) {
      compute_sums<kIsTall, 2, 1>(tile);
    } else {
      compute_sums<kIsTall, 2, 2>(tile);
    }
  } else if (tile.panel_parts == 1) {
    compute_sums<kIsTall, 3, 1>(tile);
  } else if (tile.panel_parts == 2) {
    compute_sums<kIsTall, 3, 2>(tile);
  } else {
    compute_sums<kIsTall, 3, 3>(tile);
  }
  store_rows<kIsTall>(tile.c, tile.c_stride, tile.rows);
}

void compute(const SplitTile& tile) {
  if (tile.rows > kTileSide) {
    compute_of_height<true>(tile);
  } else {
    compute_of_height<false>(tile);
  }
}

/// `value` becomes what its bfloat16 number lacks.
__m256i take_part(__m512& value) {
  const auto part = (__m256i)_mm512_cvtneps_pbh(value);
  const __m512i wide = _mm512_slli_epi32(_mm512_cvtepu16_epi32(part), kHalf);
  value = _mm512_sub_ps(value, _mm512_castsi512_ps(wide));
  return part;
}

void split(const float* from, int64_t count, Parts parts, uint16_t* to, int64_t part_size) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const int64_t missing = i + kLanes - count;
    const auto lanes =
        static_cast<__mmask16>(missing > 0 ? 0xffffU >> static_cast<unsigned>(missing) : 0xffffU);
    __m512 value = _mm512_maskz_loadu_ps(lanes, from + i);
    for (int part = 0; part < static_cast<int>(parts); ++part) {
      // Rows are filled up to whole tiles: what lies behind them may be written.
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + part * part_size + i), take_part(value));
    }
  }
}

__m512 load(const float* from) { return _mm512_loadu_ps(from); }

struct Float16 {
  uint16_t bits;
};
__m512 load(const Float16* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

struct BFloat16 {
  uint16_t bits;
};
__m512 load(const BFloat16* from) {
  const __m256i stored = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(stored), kHalf));
}

/// Two rows of a panel, 16 columns of each: `first` and `second` become what the part lacks.
__m512i take_pairs(__m512& first, __m512& second) {
  const __m512i pairs = rounded_pairs(first, second);
  const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
  first = _mm512_sub_ps(first, _mm512_castsi512_ps(_mm512_slli_epi32(pairs, kHalf)));
  second = _mm512_sub_ps(second, _mm512_castsi512_ps(_mm512_and_si512(pairs, high)));
  return pairs;
}

template <class Stored>
void split_stored(const StoredPanel& panel) {
  const auto* from = static_cast<const Stored*>(panel.stored);
  const int64_t part_size = panel.filled * kPanelWidth;
  uint16_t* to = panel.to;
  for (int64_t k = 0; k < panel.filled; k += 2, from += 2 * kPanelWidth) {
    for (int64_t column = 0; column < kPanelWidth; column += kLanes, to += 2 * kLanes) {
      __m512 first = k < panel.inputs ? load(from + column) : _mm512_setzero_ps();
      __m512 second =
          k + 1 < panel.inputs ? load(from + kPanelWidth + column) : _mm512_setzero_ps();
      for (int part = 0; part < panel.parts; ++part) {
        _mm512_store_si512(to + part * part_size, take_pairs(first, second));
      }
    }
  }
}

void split_panel(const StoredPanel& panel) {
  switch (panel.storage) {
    case Storage::kFloat32:
      return split_stored<float>(panel);
    case Storage::kFloat16:
      return split_stored<Float16>(panel);
    case Storage::kBFloat16:
      return split_stored<BFloat16>(panel);
  }
}

}  // namespace

constinit const SplitKernel kSplitAmxKernel{.name = "split amx",
                                            .needs = kCompiledFor,
                                            .panel_width = kPanelWidth,
                                            .tile_rows = kRows,
                                            .row_step = kTileSide,
                                            .inputs_together = kStep,
                                            .compute = compute,
                                            .split = split,
                                            .split_panel = split_panel,
                                            .begin = begin_tiles,
                                            .end = end_tiles};

}  // namespace gemm
