// AVX-512: 32 registers of 16 floats, 12 × 2 of them sums.
#include "format/float32.h"
#include "processor/compiled_for.h"
#include "processor/simd_avx512.h"

namespace kernels {
constinit const Kernel kFloat32Avx512 =
    float32_kernel<Simd, Float16, BFloat16, 12>("avx512", kCompiledFor);

}  // namespace kernels
