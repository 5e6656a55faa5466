// The instruction sets that the current file is compiled for. Derived from the compiler's macros,
// so it includes implied sets (-mavx512bf16 implies AVX512BW).
#pragma once

#include "kernels/cpu.h"

// The bit if the compiler has defined the macro as 1, otherwise 0.
#define KERNELS_TEXT(macro) #macro
#define KERNELS_IF_DEFINED(macro, bit) (KERNELS_TEXT(macro)[0] == '1' ? (bit) : Instructions{0})

namespace kernels {
namespace {

constexpr Instructions kCompiledFor =
    KERNELS_IF_DEFINED(__SSE3__, kSse3) | KERNELS_IF_DEFINED(__SSSE3__, kSsse3) |
    KERNELS_IF_DEFINED(__SSE4_1__, kSse41) | KERNELS_IF_DEFINED(__SSE4_2__, kSse42) |
    KERNELS_IF_DEFINED(__POPCNT__, kPopcnt) | KERNELS_IF_DEFINED(__XSAVE__, kXsave) |
    KERNELS_IF_DEFINED(__AVX__, kAvx) | KERNELS_IF_DEFINED(__F16C__, kF16c) |
    KERNELS_IF_DEFINED(__FMA__, kFma) | KERNELS_IF_DEFINED(__AVX2__, kAvx2) |
    KERNELS_IF_DEFINED(__AVX512F__, kAvx512f) | KERNELS_IF_DEFINED(__AVX512DQ__, kAvx512dq) |
    KERNELS_IF_DEFINED(__AVX512BW__, kAvx512bw) | KERNELS_IF_DEFINED(__AVX512VL__, kAvx512vl) |
    KERNELS_IF_DEFINED(__AVX512VNNI__, kAvx512vnni) |
    KERNELS_IF_DEFINED(__AVX512BF16__, kAvx512bf16) | KERNELS_IF_DEFINED(__AMX_TILE__, kAmxTile) |
    KERNELS_IF_DEFINED(__AMX_INT8__, kAmxInt8) | KERNELS_IF_DEFINED(__AMX_BF16__, kAmxBf16);

}  // namespace
}  // namespace kernels

#undef KERNELS_IF_DEFINED
#undef KERNELS_TEXT
