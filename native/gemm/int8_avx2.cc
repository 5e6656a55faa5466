// AVX2: products of 8 bits are added up in pairs of 16 bits, then in 32.
#include <immintrin.h>

#include "int8_tiles.h"

namespace gemm {
namespace {

struct Simd {
  using Vector = __m256i;
  static constexpr int kLanes = 8;
  static Vector zero() { return _mm256_setzero_si256(); }
  static Vector load(const int8_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static Vector broadcast(int32_t four) { return _mm256_set1_epi32(four); }
  static void store(int32_t* to, Vector vector) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), vector);
  }
  /// 2 × 255 × 63 is below the 32,767 at which the pairs would saturate.
  static Vector add_products(Vector sums, Vector values, Vector weights) {
    const Vector pairs = _mm256_maddubs_epi16(values, weights);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

constexpr Int8TileFunction kTiles[] = {compute_int8_tile<Simd, 1>, compute_int8_tile<Simd, 2>,
                                       compute_int8_tile<Simd, 3>, compute_int8_tile<Simd, 4>,
                                       compute_int8_tile<Simd, 5>};

bool is_supported() { return __builtin_cpu_supports("avx2"); }

}  // namespace

const Int8Kernel kInt8Avx2Kernel{
    .is_supported = is_supported, .panel_width = 16, .tile_rows = 5, .tiles = kTiles};

}  // namespace gemm
