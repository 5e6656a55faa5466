// float32 with AVX2, FMA and F16C. 6 × 2 of the 16 registers hold sums.
#include "cpu/compiled_for.h"
#include "cpu/simd_avx2.h"
#include "matmul/float32.h"

namespace kernels {
namespace {

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

constinit const Kernel kFloat32Avx2 =
    float32_kernel<Simd, Float16, BFloat16, 6>("avx2", kCompiledFor);

}  // namespace kernels
