// Products of 8-bit integers with the compiler's vector extension.
#pragma once

#include "cpu/simd_portable.h"

namespace kernels {
namespace {

/// Adds the products of four unsigned values and four signed weights in each lane.
inline Simd::Integers add_four_products(Simd::Integers sums, Simd::Integers values,
                                        Simd::Integers weights) {
  constexpr int kByte = 8, kHighest = 24;
  for (int shift = 0; shift <= kHighest; shift += kByte) {
    const Simd::Integers value = (values >> shift) & 0xff;
    sums += value * ((weights << (kHighest - shift)) >> kHighest);
  }
  return sums;
}

}  // namespace
}  // namespace kernels
