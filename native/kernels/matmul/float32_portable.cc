// float32 on all other processors; also the reference for the other kernels.
#include "cpu/compiled_for.h"
#include "cpu/simd_portable.h"
#include "matmul/convert.h"
#include "matmul/float32.h"

namespace kernels {
namespace {

template <float (*widen)(uint16_t)>
struct Widened {
  using Stored = uint16_t;
  static Simd::Vector load(const Stored* from) {
    return Simd::Vector{widen(from[0]), widen(from[1]), widen(from[2]), widen(from[3])};
  }
};

}  // namespace

constinit const Kernel kFloat32Portable =
    float32_kernel<Simd, Widened<widen_float16>, Widened<widen_bfloat16>, 6>("portable",
                                                                             kCompiledFor);

}  // namespace kernels
