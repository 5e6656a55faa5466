// AVX-512: 32 registers of 16 floats, 12 × 2 of them sums.
#include <immintrin.h>

#include "compiled_for.h"
#include "tiles.h"

namespace gemm {
namespace {

struct Simd {
  using Vector = __m512;
  typedef int32_t Integers __attribute__((vector_size(64)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 16;
  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static Vector broadcast(const float* from) { return _mm512_set1_ps(*from); }
  static void store(float* to, Vector vector) { _mm512_storeu_ps(to, vector); }
};

struct Float32 {
  using Stored = float;
  static __m512 load(const Stored* from) { return _mm512_loadu_ps(from); }
};

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

constinit const Kernel kAvx512Kernel =
    make_kernel<Simd, Float32, Float16, BFloat16, 12>("avx512", kCompiledFor);

}  // namespace gemm
