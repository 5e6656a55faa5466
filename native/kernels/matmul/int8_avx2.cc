// int8 with AVX2: products of 8-bit values are summed in 16 bits, then in 32 bits.
#include "cpu/compiled_for.h"
#include "cpu/simd_avx2.h"
#include "matmul/int8.h"

namespace kernels {
namespace {

struct Product : IntegerSums<Simd> {
  /// Sums of pairs of products, in 16 bits.
  using Partial = __m256i;
  static Partial begin(Sum) { return _mm256_setzero_si256(); }
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    partial = _mm256_add_epi16(partial, _mm256_maddubs_epi16((__m256i)values, (__m256i)weights));
    // Prevents GCC from reordering the sums, for which it would spill all products to memory.
    asm("" : "+x"(partial));
    return partial;
  }
  static Sum end(Sum sums, Partial partial) {
    return sums + (Sum)_mm256_madd_epi16(partial, _mm256_set1_epi16(1));
  }
};

}  // namespace

constinit const Kernel kInt8Avx2 =
    int8_kernel<Simd, Product, 4, kSevenBits>("int8 avx2", kCompiledFor, kInt8AttentionAvx2);

}  // namespace kernels
