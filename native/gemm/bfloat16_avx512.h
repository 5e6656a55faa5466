// Rounding to bfloat16 by AVX512-BF16's own instruction, for kernels that are compiled for it.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace gemm {
namespace {

/// The one lane of `value`, in a vector of its own: so that a row's end is rounded as the rest is.
uint16_t round_one(float value) {
  const __m512bh rounded =
      (__m512bh)_mm512_castsi256_si512((__m256i)_mm512_cvtneps_pbh(_mm512_set1_ps(value)));
  return static_cast<uint16_t>(_mm512_cvtsi512_si32((__m512i)rounded));
}

/// Which of 32 words go where.
struct alignas(64) Words {
  uint16_t of[32];
};

/// In each pair the number of the one half below that of the other.
constexpr Words interleaving() noexcept {
  Words words{};
  for (size_t lane = 0; lane < 16; ++lane) {
    words.of[2 * lane] = static_cast<uint16_t>(lane);
    words.of[2 * lane + 1] = static_cast<uint16_t>(16 + lane);
  }
  return words;
}

/// Two rows of a panel, 16 columns of each: in each lane the number of the first row below that of
/// the second.
__m512i rounded_pairs(__m512 first, __m512 second) {
  static constexpr Words kInterleaving = interleaving();
  const auto both = (__m512i)_mm512_cvtne2ps_pbh(second, first);
  return _mm512_permutexvar_epi16(_mm512_load_si512(kInterleaving.of), both);
}

/// See BFloat16Kernel.
inline void round_panel(const float* from, int64_t inputs, int64_t filled, uint16_t* to) {
  constexpr int64_t kLanes = 16, kWidth = 2 * kLanes;
  for (int64_t k = 0; k < filled; k += 2, from += 2 * kWidth) {
    for (int64_t column = 0; column < kWidth; column += kLanes, to += 2 * kLanes) {
      const float* const second = from + kWidth + column;
      _mm512_storeu_si512(
          to, rounded_pairs(k < inputs ? _mm512_loadu_ps(from + column) : _mm512_setzero_ps(),
                            k + 1 < inputs ? _mm512_loadu_ps(second) : _mm512_setzero_ps()));
    }
  }
}

/// See BFloat16Kernel.
inline void round(const float* from, uint16_t* to, int64_t count) {
  constexpr int64_t kLanes = 16;
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_loadu_ps(from + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), (__m256i)rounded);
  }
  for (; i < count; ++i) to[i] = round_one(from[i]);
}

}  // namespace
}  // namespace gemm
