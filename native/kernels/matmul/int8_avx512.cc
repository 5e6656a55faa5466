// int8 with AVX-512 VNNI: one instruction adds four products of 8-bit values to a sum.
#include "cpu/compiled_for.h"
#include "cpu/simd_avx512.h"
#include "matmul/int8.h"

namespace kernels {
namespace {

struct Product : IntegerSums<Simd> {
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    return (Sum)_mm512_dpbusd_epi32((__m512i)partial, (__m512i)values, (__m512i)weights);
  }
};

}  // namespace

constinit const Kernel kInt8Avx512 = int8_kernel<Simd, Product, 12, kSevenBits>(
    "int8 avx512-vnni", kCompiledFor, kInt8AttentionAvx512);

constinit const Kernel kInt8VnniAvx512 = int8_kernel<Simd, Product, 12, kEightBits>(
    "int8-vnni avx512-vnni", kCompiledFor, kInt8AttentionAvx512);

}  // namespace kernels
