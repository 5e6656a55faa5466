// int8 on all other processors; also the reference for the other kernels.
#include "cpu/compiled_for.h"
#include "cpu/simd_portable.h"
#include "matmul/int8.h"

namespace kernels {
namespace {

struct Product : IntegerSums<Simd> {
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    constexpr int kByte = 8, kHighest = 24;
    for (int shift = 0; shift <= kHighest; shift += kByte) {
      const Sum value = (values >> shift) & 0xff;
      partial += value * ((weights << (kHighest - shift)) >> kHighest);
    }
    return partial;
  }
};

}  // namespace

constinit const Kernel kInt8Portable = int8_kernel<Simd, Product, 4>("int8 portable", kCompiledFor);

}  // namespace kernels
