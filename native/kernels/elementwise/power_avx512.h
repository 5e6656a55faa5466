// Powers of 2 with AVX-512, for files that are compiled for it.
#pragma once

#include "cpu/simd_avx512.h"
#include "elementwise/exponentials.h"

namespace kernels {
namespace {

/// Like power_of_2(), with the instructions for rounding and scaling.
inline Simd::Vector power_of_2_scaled(Simd::Vector x) {
  x = Simd::max(Simd::Vector{} + kMinExponent, x);
  const auto whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return _mm512_scalef_ps(power_of_fraction(x - whole), whole);
}

}  // namespace
}  // namespace kernels
