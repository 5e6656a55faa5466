// Vectors of 16 floats or 32-bit integers with AVX-512.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace kernels {
namespace {

struct Simd {
  using Vector = __m512;
  typedef int32_t Integers __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 16;
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  /// Loads 64 bytes of any type.
  static Integers load(const void* from) { return (Integers)_mm512_loadu_si512(from); }
  static Vector broadcast(const float* from) { return _mm512_set1_ps(*from); }
  static Integers broadcast(int32_t bits) { return (Integers)_mm512_set1_epi32(bits); }
  static void store(float* to, Vector vector) { _mm512_storeu_ps(to, vector); }
  static Vector min(Vector a, Vector b) { return _mm512_min_ps(a, b); }
  static Vector max(Vector a, Vector b) { return _mm512_max_ps(a, b); }
  static Integers max(Integers a, Integers b) {
    return (Integers)_mm512_max_epi32((__m512i)a, (__m512i)b);
  }
  /// Selects lanes of `values` by their numbers.
  static Vector permute(Vector values, Integers lanes) {
    return _mm512_permutexvar_ps((__m512i)lanes, values);
  }
  static Vector to_float(Integers values) { return _mm512_cvtepi32_ps((__m512i)values); }
  /// Truncates values to integers. NaN becomes the lowest integer.
  static Integers truncate(Vector values) { return (Integers)_mm512_cvttps_epi32(values); }
  static void store(void* to, Integers integers) { _mm512_storeu_si512(to, (__m512i)integers); }
  /// Truncates values from 0 to 255 to integers and stores them as bytes.
  static void store_bytes(uint8_t* to, Vector values) { store_bytes(to, truncate(values)); }
  /// Stores integers from 0 to 255 as bytes.
  static void store_bytes(uint8_t* to, Integers values) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8((__m512i)values));
  }
};

/// Loads of 16-bit values, widened to float32.
struct Float16 {
  using Stored = uint16_t;
  static __m512 load(const Stored* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
};

struct BFloat16 {
  using Stored = uint16_t;
  static __m512 load(const Stored* from) {
    const __m256i stored = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(stored), 16));
  }
};

}  // namespace
}  // namespace kernels
