// AVX-512 VNNI: four products of 8 bits are added to a sum by one instruction.
#include <immintrin.h>

#include "int8_tiles.h"

namespace gemm {
namespace {

struct Simd {
  using Vector = __m512i;
  static constexpr int kLanes = 16;
  static Vector zero() { return _mm512_setzero_si512(); }
  static Vector load(const int8_t* from) { return _mm512_loadu_si512(from); }
  static Vector broadcast(int32_t four) { return _mm512_set1_epi32(four); }
  static void store(int32_t* to, Vector vector) { _mm512_storeu_si512(to, vector); }
  static Vector add_products(Vector sums, Vector values, Vector weights) {
    return _mm512_dpbusd_epi32(sums, values, weights);
  }
};

constexpr Int8TileFunction kTiles[] = {
    compute_int8_tile<Simd, 1>,  compute_int8_tile<Simd, 2>,  compute_int8_tile<Simd, 3>,
    compute_int8_tile<Simd, 4>,  compute_int8_tile<Simd, 5>,  compute_int8_tile<Simd, 6>,
    compute_int8_tile<Simd, 7>,  compute_int8_tile<Simd, 8>,  compute_int8_tile<Simd, 9>,
    compute_int8_tile<Simd, 10>, compute_int8_tile<Simd, 11>, compute_int8_tile<Simd, 12>};

bool is_supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni");
}

}  // namespace

const Int8Kernel kInt8Avx512Kernel{
    .is_supported = is_supported, .panel_width = 32, .tile_rows = 12, .tiles = kTiles};

}  // namespace gemm
