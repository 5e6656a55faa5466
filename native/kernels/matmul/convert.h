// Conversion between float32 and the 16-bit formats.
#pragma once

#include <bit>
#include <cstdint>

namespace kernels {

/// Number of bfloat16 values that one instruction multiplies and adds.
constexpr int kPair = 2;

/// Rounds to the nearest bfloat16, ties to even. Overflow becomes an infinity, NaN stays NaN.
uint16_t round_to_bfloat16(float value);

namespace {

inline float widen_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// A multiplication corrects the exponent bias, which also handles subnormal numbers. Infinity and
/// NaN keep an exponent of ones.
inline float widen_float16(uint16_t bits) {
  constexpr float kBias = 0x1p112F;
  constexpr uint32_t kExponent = 0x7c00;
  const uint32_t sign = (bits & 0x8000U) << 16;
  uint32_t magnitude = (bits & 0x7fffU) << 13;
  if ((bits & kExponent) == kExponent) {
    magnitude |= 0x7f800000U;
  } else {
    magnitude = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * kBias);
  }
  return std::bit_cast<float>(sign | magnitude);
}

}  // namespace
}  // namespace kernels
