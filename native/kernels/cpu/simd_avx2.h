// Vectors of 8 floats or 32-bit integers with AVX2.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace kernels {
namespace {

struct Simd {
  using Vector = __m256;
  typedef int32_t Integers __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 8;
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  /// Loads 32 bytes of any type.
  static Integers load(const void* from) {
    return (Integers)_mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  static Vector broadcast(const float* from) { return _mm256_broadcast_ss(from); }
  static Integers broadcast(int32_t bits) { return (Integers)_mm256_set1_epi32(bits); }
  static void store(float* to, Vector vector) { _mm256_storeu_ps(to, vector); }
  static Vector min(Vector a, Vector b) { return _mm256_min_ps(a, b); }
  static Vector max(Vector a, Vector b) { return _mm256_max_ps(a, b); }
  static Integers max(Integers a, Integers b) {
    return (Integers)_mm256_max_epi32((__m256i)a, (__m256i)b);
  }
  /// Selects lanes of `values` by their numbers.
  static Vector permute(Vector values, Integers lanes) {
    return _mm256_permutevar8x32_ps(values, (__m256i)lanes);
  }
  static Vector to_float(Integers values) { return _mm256_cvtepi32_ps((__m256i)values); }
  /// Truncates values to integers. NaN becomes the lowest integer.
  static Integers truncate(Vector values) { return (Integers)_mm256_cvttps_epi32(values); }
  static void store(void* to, Integers integers) {
    _mm256_storeu_si256(static_cast<__m256i*>(to), (__m256i)integers);
  }
  /// Truncates values from 0 to 255 to integers and stores them as bytes.
  static void store_bytes(uint8_t* to, Vector values) { store_bytes(to, truncate(values)); }
  /// Stores integers from 0 to 255 as bytes.
  static void store_bytes(uint8_t* to, Integers values) {
    const __m256i words = _mm256_packs_epi32((__m256i)values, (__m256i)values);
    const __m256i bytes = _mm256_packus_epi16(words, words);
    const __m128i packed =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), packed);
  }
};

}  // namespace
}  // namespace kernels
