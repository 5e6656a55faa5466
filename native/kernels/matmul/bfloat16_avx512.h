// Packing of bfloat16 operands with AVX512-BF16. Included by files that are compiled for it, see
// tile.h.
#pragma once

#include "cpu/simd_avx512.h"
#include "elementwise/power_avx512.h"
#include "matmul/convert.h"
#include "matmul/tile.h"

namespace kernels {
namespace {

constexpr int64_t kPanelWidth = int64_t{2} * Simd::kLanes;

/// See pack_rows().
RowScale round_row(const float* from, int64_t count, uint16_t* to) {
  int64_t i = 0;
  for (; i + Simd::kLanes <= count; i += Simd::kLanes) {
    const auto rounded = (__m256i)_mm512_cvtneps_pbh(Simd::load(from + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), rounded);
  }
  if (i < count) {
    const auto lanes = static_cast<__mmask16>((1U << static_cast<unsigned>(count - i)) - 1);
    const auto rounded = (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(lanes, from + i));
    _mm512_mask_storeu_epi16(to + i, lanes, _mm512_castsi256_si512(rounded));
  }
  return {};
}

/// See Kernel::pack_exponentials.
void pack_exponentials(const RowsToPack& scores, const float* sinks, float* sums) {
  auto* const to = static_cast<uint16_t*>(scores.to);
  const int64_t stride = scores.to_stride;
  const auto keep = [=](int64_t row, int64_t i, __m512 first, __m512 second) {
    _mm512_storeu_si512(to + row * stride + i, (__m512i)_mm512_cvtne2ps_pbh(second, first));
  };
  exponentials_of_rows<Simd, power_of_2_scaled>(scores.from, scores.rows, scores.stride,
                                                scores.count, sinks, sums, keep);
}

/// Indices of a permutation of 32 words.
struct alignas(64) Words {
  uint16_t of[32];
};

/// Interleaves the lower and the upper half: the low word of each pair comes from the lower half.
constexpr Words interleaving() noexcept {
  Words words{};
  for (size_t lane = 0; lane < 16; ++lane) {
    words.of[2 * lane] = static_cast<uint16_t>(lane);
    words.of[2 * lane + 1] = static_cast<uint16_t>(16 + lane);
  }
  return words;
}

/// Rounds 16 columns of two rows of a panel. Each lane holds the value of the first row in its low
/// word and the value of the second row in its high word.
__m512i rounded_pairs(__m512 first, __m512 second) {
  static constexpr Words kInterleaving = interleaving();
  const auto both = (__m512i)_mm512_cvtne2ps_pbh(second, first);
  return _mm512_permutexvar_epi16(_mm512_load_si512(kInterleaving.of), both);
}

/// See Kernel::pack_b_block.
void pack_b_block(const PanelToPack& panel) {
  const float* from = panel.from;
  uint16_t* to = panel.to;
  for (int64_t k = 0; k < panel.padded; k += kPair, from += kPair * kPanelWidth) {
    for (int64_t column = 0; column < kPanelWidth; column += Simd::kLanes) {
      const float* const second = from + kPanelWidth + column;
      const __m512i pairs = rounded_pairs(k < panel.inputs ? Simd::load(from + column) : __m512{},
                                          k + 1 < panel.inputs ? Simd::load(second) : __m512{});
      _mm512_storeu_si512(to, pairs);
      to += int64_t{kPair} * Simd::kLanes;
    }
  }
}

}  // namespace
}  // namespace kernels
