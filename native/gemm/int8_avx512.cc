// AVX-512 VNNI: four products of 8 bits are added to a sum by one instruction.
#include <immintrin.h>

#include "compiled_for.h"
#include "int8_tiles.h"

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
  /// The sums themselves.
  using Partial = Integers;
  static Partial begin(Integers sums) { return sums; }
  static Partial add_products(Partial partial, Integers values, Integers weights) {
    return (Integers)_mm512_dpbusd_epi32((__m512i)partial, (__m512i)values, (__m512i)weights);
  }
  static Integers end(Integers, Partial partial) { return partial; }
};

constexpr Int8TileFunction kTiles[] = {
    compute_int8_tile<Simd, 1>,  compute_int8_tile<Simd, 2>,  compute_int8_tile<Simd, 3>,
    compute_int8_tile<Simd, 4>,  compute_int8_tile<Simd, 5>,  compute_int8_tile<Simd, 6>,
    compute_int8_tile<Simd, 7>,  compute_int8_tile<Simd, 8>,  compute_int8_tile<Simd, 9>,
    compute_int8_tile<Simd, 10>, compute_int8_tile<Simd, 11>, compute_int8_tile<Simd, 12>};

}  // namespace

constinit const Int8Kernel kInt8Avx512Kernel{.name = "int8 avx512-vnni",
                                             .needs = kCompiledFor,
                                             .panel_width = 32,
                                             .tile_rows = 12,
                                             .tiles = kTiles,
                                             .quantize = quantize_row<Simd>};

}  // namespace gemm
