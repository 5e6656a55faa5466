// Rounding to bfloat16, and to sums of it, by AVX512-BF16's own instruction, for kernels that are
// compiled for it.
#pragma once

#include "elementwise/power_avx512.h"
#include "format/tile.h"
#include "processor/simd_avx512.h"

namespace gemm {
namespace {

constexpr int kHalf = 16;  // bits
constexpr int64_t kPanelWidth = int64_t{2} * Simd::kLanes;

/// In parts, one behind the other from `to` on. store(to, part): of what is wanted of a vector.
template <class Store>
void split_lanes(__m512 value, Parts parts, uint16_t* to, const Store& store) {
  auto rounded = (__m256i)_mm512_cvtneps_pbh(value);
  store(to, rounded);
  for (int part = 1; part < parts.count; ++part) {
    // What the part before lacks.
    value -= (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(rounded), kHalf);
    rounded = (__m256i)_mm512_cvtneps_pbh(value);
    store(to += parts.size, rounded);
  }
}

/// See round_each().
inline RowScale round_row(const float* from, int64_t count, uint16_t* to, Parts parts) {
  int64_t i = 0;
  for (; i + Simd::kLanes <= count; i += Simd::kLanes) {
    split_lanes(Simd::load(from + i), parts, to + i, [](uint16_t* at, __m256i part) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), part);
    });
  }
  if (i < count) {
    const auto lanes = static_cast<__mmask16>((1U << static_cast<unsigned>(count - i)) - 1);
    split_lanes(_mm512_maskz_loadu_ps(lanes, from + i), parts, to + i,
                [lanes](uint16_t* at, __m256i part) {
                  _mm512_mask_storeu_epi16(at, lanes, _mm512_castsi256_si512(part));
                });
  }
  return {};
}

/// See Kernel.
inline void round_exponentials(const RowsToRound& scores, float* sums) {
  auto* const to = static_cast<uint16_t*>(scores.to);
  const int64_t stride = scores.to_stride;
  const auto keep = [=](int64_t row, int64_t i, __m512 first, __m512 second) {
    _mm512_storeu_si512(to + row * stride + i, (__m512i)_mm512_cvtne2ps_pbh(second, first));
  };
  exponentials_of_rows<Simd, power_of_2_scaled>(scores.from, scores.rows, scores.stride,
                                                scores.count, sums, keep);
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
inline __m512i rounded_pairs(__m512 first, __m512 second) {
  static constexpr Words kInterleaving = interleaving();
  const auto both = (__m512i)_mm512_cvtne2ps_pbh(second, first);
  return _mm512_permutexvar_epi16(_mm512_load_si512(kInterleaving.of), both);
}

/// The same in parts, one behind the other from `to` on.
inline void split_pairs(__m512 first, __m512 second, Parts parts, uint16_t* to) {
  __m512i pairs = rounded_pairs(first, second);
  _mm512_storeu_si512(to, pairs);
  for (int part = 1; part < parts.count; ++part) {
    // What the part before lacks.
    const __m512i high = _mm512_set1_epi32(static_cast<int>(0xffff0000U));
    first -= (__m512)_mm512_slli_epi32(pairs, kHalf);
    second -= (__m512)_mm512_and_si512(pairs, high);
    pairs = rounded_pairs(first, second);
    _mm512_storeu_si512(to += parts.size, pairs);
  }
}

struct Float32 {
  using Stored = float;
  static __m512 load(const Stored* from) { return Simd::load(from); }
};

template <class Weights>
void split_stored(const StoredPanel& panel) {
  const auto* from = static_cast<const Weights::Stored*>(panel.stored);
  const Parts parts{.count = panel.parts, .size = panel.filled * kPanelWidth};
  uint16_t* to = panel.to;
  for (int64_t k = 0; k < panel.filled; k += 2, from += 2 * kPanelWidth) {
    for (int64_t column = 0; column < kPanelWidth; column += Simd::kLanes) {
      const auto* const second = from + kPanelWidth + column;
      split_pairs(k < panel.inputs ? Weights::load(from + column) : __m512{},
                  k + 1 < panel.inputs ? Weights::load(second) : __m512{}, parts, to);
      to += int64_t{2} * Simd::kLanes;
    }
  }
}

/// See Kernel.
inline void split_panel(const StoredPanel& panel) {
  switch (panel.storage) {
    case Storage::kFloat32:
      return split_stored<Float32>(panel);
    case Storage::kFloat16:
      return split_stored<Float16>(panel);
    case Storage::kBFloat16:
      return split_stored<BFloat16>(panel);
  }
}

}  // namespace
}  // namespace gemm
