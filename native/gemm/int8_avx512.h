// Vectors of AVX-512, for the int8 kernels that are compiled for it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace gemm {
namespace {

struct Simd {
  typedef float Floats __attribute__((vector_size(64)));      // NOLINT(modernize-use-using)
  typedef int32_t Integers __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 16;
  static Integers load(const int8_t* from) { return (Integers)_mm512_loadu_si512(from); }
  static Integers load(const int32_t* from) { return (Integers)_mm512_loadu_si512(from); }
  static Floats load(const float* from) { return _mm512_loadu_ps(from); }
  static Integers broadcast(int32_t four) { return (Integers)_mm512_set1_epi32(four); }
  static void store(float* to, Floats values) { _mm512_storeu_ps(to, values); }
  static Floats min(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats to_float(Integers values) { return _mm512_cvtepi32_ps((__m512i)values); }
  /// Whole numbers from 0 to 255, what follows the point is cut off.
  static void store_bytes(uint8_t* to, Floats values) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(values)));
  }
};

}  // namespace
}  // namespace gemm
