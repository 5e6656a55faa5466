// Convolution filters with AVX2 and FMA.
#include "convolution/filter_tile.h"
#include "cpu/compiled_for.h"
#include "cpu/simd_avx2.h"

namespace kernels {

constinit const FilterKernel kFiltersAvx2 = filter_kernel<Simd, 4, 12>("avx2", kCompiledFor);

}  // namespace kernels
