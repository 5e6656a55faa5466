// AVX2: products of 8 bits are added up in 16 bits, then in 32.
#include <immintrin.h>

#include "compiled_for.h"
#include "int8_tiles.h"

namespace gemm {
namespace {

struct Simd {
  typedef float Floats __attribute__((vector_size(32)));      // NOLINT(modernize-use-using)
  typedef int32_t Integers __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 8;
  static Integers load(const int8_t* from) {
    return (Integers)_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Integers load(const int32_t* from) {
    return (Integers)_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Floats load(const float* from) { return _mm256_loadu_ps(from); }
  static Integers broadcast(int32_t four) { return (Integers)_mm256_set1_epi32(four); }
  static void store(float* to, Floats values) { _mm256_storeu_ps(to, values); }
  static Floats min(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static Floats max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats to_float(Integers values) { return _mm256_cvtepi32_ps((__m256i)values); }
  /// Whole numbers from 0 to 255, what follows the point is cut off.
  static void store_bytes(uint8_t* to, Floats values) {
    const __m256i whole = _mm256_cvttps_epi32(values);
    const __m256i words = _mm256_packs_epi32(whole, whole);
    const __m256i bytes = _mm256_packus_epi16(words, words);
    const __m128i joined =
        _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), joined);
  }
  /// Pairs of products in 16 bits.
  using Partial = __m256i;
  static Partial begin(Integers) { return _mm256_setzero_si256(); }
  static Partial add_products(Partial partial, Integers values, Integers weights) {
    partial = _mm256_add_epi16(partial, _mm256_maddubs_epi16((__m256i)values, (__m256i)weights));
    // Else GCC changes the order of the sums, and keeps all products in memory until it comes to
    // them.
    asm("" : "+x"(partial));
    return partial;
  }
  static Integers end(Integers sums, Partial partial) {
    return sums + (Integers)_mm256_madd_epi16(partial, _mm256_set1_epi16(1));
  }
};

constexpr Int8TileFunction kTiles[] = {compute_int8_tile<Simd, 1>, compute_int8_tile<Simd, 2>,
                                       compute_int8_tile<Simd, 3>, compute_int8_tile<Simd, 4>};

}  // namespace

constinit const Int8Kernel kInt8Avx2Kernel{.name = "int8 avx2",
                                           .needs = kCompiledFor,
                                           .panel_width = 16,
                                           .tile_rows = 4,
                                           .tiles = kTiles,
                                           .quantize = quantize_row<Simd>};

}  // namespace gemm
