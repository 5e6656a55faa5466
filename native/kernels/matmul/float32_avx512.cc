// float32 with AVX-512. 12 × 2 of the 32 registers hold sums.
#include "cpu/compiled_for.h"
#include "cpu/simd_avx512.h"
#include "matmul/float32.h"

namespace kernels {
constinit const Kernel kFloat32Avx512 =
    float32_kernel<Simd, Float16, BFloat16, 12>("avx512", kCompiledFor);

}  // namespace kernels
