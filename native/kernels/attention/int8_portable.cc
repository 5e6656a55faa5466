// int8 attention on all other processors; also the reference for the other kernels.
#include "matmul/int8_portable.h"

#include "attention/int8_functions.h"
#include "cpu/simd_portable.h"

namespace kernels {
namespace {

struct Product : AttentionSums<Simd> {
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    return add_four_products(partial, values, weights);
  }
};

}  // namespace

constinit const Int8Attention kInt8AttentionPortable =
    int8_attention<Simd, Product, 4, numerator<Simd>>();

}  // namespace kernels
