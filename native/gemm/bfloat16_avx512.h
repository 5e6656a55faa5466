// Rounding to bfloat16 by AVX512-BF16's own instruction, for kernels that are compiled for it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace gemm {
namespace {

/// The one lane of `value`, in a vector of its own: so that a row's end is rounded as the rest is.
uint16_t round_one(float value) {
  const __m512bh rounded =
      (__m512bh)_mm512_castsi256_si512((__m256i)_mm512_cvtneps_pbh(_mm512_set1_ps(value)));
  return static_cast<uint16_t>(_mm512_cvtsi512_si32((__m512i)rounded));
}

/// See BFloat16Kernel.
void round(const float* from, uint16_t* to, int64_t count) {
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
