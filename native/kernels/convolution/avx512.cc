// Convolution filters with AVX-512 and FMA.
#include "convolution/filter_tile.h"
#include "cpu/compiled_for.h"
#include "cpu/simd_avx512.h"

namespace kernels {

constinit const FilterKernel kFiltersAvx512 = filter_kernel<Simd, 8, 24>("avx512", kCompiledFor);

}  // namespace kernels
