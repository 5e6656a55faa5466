// int8 attention with AVX2: two products are summed in 16 bits, then four in 32 bits.
#include "attention/int8_functions.h"
#include "cpu/simd_avx2.h"

namespace kernels {
namespace {

struct Product : AttentionSums<Simd> {
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    const __m256i pairs = _mm256_maddubs_epi16((__m256i)values, (__m256i)weights);
    return partial + (Sum)_mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  }
};

}  // namespace

constinit const Int8Attention kInt8AttentionAvx2 =
    int8_attention<Simd, Product, 4, numerator<Simd>>();

}  // namespace kernels
