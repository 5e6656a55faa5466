// Sets of instructions beyond those that every processor of its kind has. Included by files that
// are compiled for such instructions: constants only (see format/tile.h).
#pragma once

#include <cstdint>

namespace kernels {

/// One bit for each that our kernels, or what their compilers take for granted with them, need.
using Instructions = uint32_t;

inline constexpr Instructions kSse3 = 1U << 0;
inline constexpr Instructions kSsse3 = 1U << 1;
inline constexpr Instructions kSse41 = 1U << 2;
inline constexpr Instructions kSse42 = 1U << 3;
inline constexpr Instructions kPopcnt = 1U << 4;
inline constexpr Instructions kXsave = 1U << 5;
inline constexpr Instructions kAvx = 1U << 6;
inline constexpr Instructions kF16c = 1U << 7;
inline constexpr Instructions kFma = 1U << 8;
inline constexpr Instructions kAvx2 = 1U << 9;
inline constexpr Instructions kAvx512f = 1U << 10;
inline constexpr Instructions kAvx512dq = 1U << 11;
inline constexpr Instructions kAvx512bw = 1U << 12;
inline constexpr Instructions kAvx512vl = 1U << 13;
inline constexpr Instructions kAvx512vnni = 1U << 14;
inline constexpr Instructions kAvx512bf16 = 1U << 15;

inline constexpr Instructions kAllInstructions = (kAvx512bf16 << 1) - 1;

}  // namespace kernels
