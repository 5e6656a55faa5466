// AVX2, FMA and F16C.
#include "elementwise/rows.h"
#include "processor/compiled_for.h"
#include "processor/simd_avx2.h"

namespace kernels {

constinit const Elementwise kElementwiseAvx2 =
    make_elementwise<Simd, gelu_by_quotient<Simd::Vector>, power_of_2<Simd>>("avx2", kCompiledFor);

}  // namespace kernels
