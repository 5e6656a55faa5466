// Elementwise functions with AVX2, FMA and F16C.
#include "cpu/compiled_for.h"
#include "cpu/simd_avx2.h"
#include "elementwise/functions.h"

namespace kernels {

constinit const Elementwise kElementwiseAvx2 =
    make_elementwise<Simd, gelu_rational<Simd::Vector>, power_of_2<Simd>>("avx2", kCompiledFor);

}  // namespace kernels
