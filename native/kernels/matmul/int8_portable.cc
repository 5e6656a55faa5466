// int8 on all other processors; also the reference for the other kernels.
#include "matmul/int8_portable.h"

#include "cpu/compiled_for.h"
#include "cpu/simd_portable.h"
#include "matmul/int8.h"

namespace kernels {
namespace {

struct Product : IntegerSums<Simd> {
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    return add_four_products(partial, values, weights);
  }
};

}  // namespace

constinit const Kernel kInt8Portable = int8_kernel<Simd, Product, 4, kSevenBits>(
    "int8 portable", kCompiledFor, kInt8AttentionPortable);

constinit const Kernel kInt8VnniPortable = int8_kernel<Simd, Product, 4, kEightBits>(
    "int8-vnni portable", kCompiledFor, kInt8AttentionPortable);

}  // namespace kernels
