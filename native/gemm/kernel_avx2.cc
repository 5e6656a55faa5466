// AVX2, FMA and F16C: 16 registers of 8 floats, 6 × 2 of them sums.
#include <immintrin.h>

#include "compiled_for.h"
#include "tiles.h"

namespace gemm {
namespace {

struct Simd {
  using Vector = __m256;
  typedef int32_t Integers __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 8;
  static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  static Vector broadcast(const float* from) { return _mm256_broadcast_ss(from); }
  static void store(float* to, Vector vector) { _mm256_storeu_ps(to, vector); }
  static Vector gelu(Vector x) { return gelu_by_quotient(x); }
};

struct Float32 {
  using Stored = float;
  static __m256 load(const Stored* from) { return _mm256_loadu_ps(from); }
};

struct Float16 {
  using Stored = uint16_t;
  static __m256 load(const Stored* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
};

struct BFloat16 {
  using Stored = uint16_t;
  static __m256 load(const Stored* from) {
    const __m128i stored = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(stored), 16));
  }
};

}  // namespace

constinit const Kernel kAvx2Kernel =
    make_kernel<Simd, Float32, Float16, BFloat16, 6>("avx2", kCompiledFor);

}  // namespace gemm
