// Reference implementation of rounding to bfloat16.
#pragma once

#include <bit>
#include <cstdint>

/// Rounds to the nearest bfloat16, ties to even.
inline float nearest_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t up = 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<float>((bits + up) & 0xffff0000U);
}
