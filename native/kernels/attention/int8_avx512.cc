// int8 attention with AVX-512 VNNI: one instruction adds four products of 8-bit values to a sum.
#include "attention/int8_functions.h"
#include "cpu/simd_avx512.h"

namespace kernels {
namespace {

struct Product : AttentionSums<Simd> {
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    return (Sum)_mm512_dpbusd_epi32((__m512i)partial, (__m512i)values, (__m512i)weights);
  }
};

/// Like numerator(), with the instructions for rounding and scaling.
Simd::Vector numerator_scaled(Simd::Vector x) {
  x = Simd::max(Simd::Vector{} + kMinExponent, x);
  const auto whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return _mm512_scalef_ps(numerator_of_fraction(x - whole), whole);
}

}  // namespace

constinit const Int8Attention kInt8AttentionAvx512 =
    int8_attention<Simd, Product, 12, numerator_scaled>();

}  // namespace kernels
