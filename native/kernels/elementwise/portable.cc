// Elementwise functions on all other processors; also the reference for the other files.
#include "cpu/compiled_for.h"
#include "cpu/simd_portable.h"
#include "elementwise/functions.h"

namespace kernels {

constinit const Elementwise kElementwisePortable =
    make_elementwise<Simd, gelu_rational<Simd::Vector>, power_of_2<Simd>>("portable", kCompiledFor);

}  // namespace kernels
