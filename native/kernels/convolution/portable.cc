// Convolution filters on all other processors.
#include "convolution/filter_tile.h"
#include "cpu/compiled_for.h"
#include "cpu/simd_portable.h"

namespace kernels {

constinit const FilterKernel kFiltersPortable =
    filter_kernel<Simd, 4, 12>("portable", kCompiledFor);

}  // namespace kernels
