// AVX2: products of 8 bits are added up in 16 bits, then in 32.
#include "format/int8.h"
#include "processor/compiled_for.h"
#include "processor/simd_avx2.h"

namespace kernels {
namespace {

struct Product : IntegerSums<Simd> {
  /// Pairs of products in 16 bits.
  using Partial = __m256i;
  static Partial begin(Sum) { return _mm256_setzero_si256(); }
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    partial = _mm256_add_epi16(partial, _mm256_maddubs_epi16((__m256i)values, (__m256i)weights));
    // Else GCC changes the order of the sums, and keeps all products in memory until it comes to
    // them.
    asm("" : "+x"(partial));
    return partial;
  }
  static Sum end(Sum sums, Partial partial) {
    return sums + (Sum)_mm256_madd_epi16(partial, _mm256_set1_epi16(1));
  }
};

}  // namespace

constinit const Kernel kInt8Avx2 = int8_kernel<Simd, Product, 4>("int8 avx2", kCompiledFor);

}  // namespace kernels
