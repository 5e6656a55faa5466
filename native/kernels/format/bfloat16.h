// Rounding to bfloat16.
#pragma once

#include <cstdint>

namespace kernels {

/// Numbers that one instruction multiplies and adds up.
constexpr int kPair = 2;

/// To the nearest number of 8 bits, to even where two are as near; what is too large becomes an
/// infinity, NaN stays.
uint16_t round_to_bfloat16(float value);

}  // namespace kernels
