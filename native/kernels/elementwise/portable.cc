// For every other processor, and what the others are held against.
#include "elementwise/rows.h"
#include "processor/compiled_for.h"
#include "processor/simd_portable.h"

namespace kernels {

constinit const Elementwise kElementwisePortable =
    make_elementwise<Simd, gelu_by_quotient<Simd::Vector>, power_of_2<Simd>>("portable",
                                                                             kCompiledFor);

}  // namespace kernels
