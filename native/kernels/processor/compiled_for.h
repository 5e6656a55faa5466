// What a file's compiler was allowed to use: what a processor needs to run it. Of the compiler's
// own macros, so that what one option implies (-mavx512bf16: AVX512BW) cannot be forgotten.
#pragma once

#include "kernels/instructions.h"

// Nothing, unless the compiler has defined the macro, as 1.
#define GEMM_TEXT(macro) #macro
#define GEMM_IF_DEFINED(macro, bit) (GEMM_TEXT(macro)[0] == '1' ? (bit) : Instructions{0})

namespace kernels {
namespace {

constexpr Instructions kCompiledFor =
    GEMM_IF_DEFINED(__SSE3__, kSse3) | GEMM_IF_DEFINED(__SSSE3__, kSsse3) |
    GEMM_IF_DEFINED(__SSE4_1__, kSse41) | GEMM_IF_DEFINED(__SSE4_2__, kSse42) |
    GEMM_IF_DEFINED(__POPCNT__, kPopcnt) | GEMM_IF_DEFINED(__XSAVE__, kXsave) |
    GEMM_IF_DEFINED(__AVX__, kAvx) | GEMM_IF_DEFINED(__F16C__, kF16c) |
    GEMM_IF_DEFINED(__FMA__, kFma) | GEMM_IF_DEFINED(__AVX2__, kAvx2) |
    GEMM_IF_DEFINED(__AVX512F__, kAvx512f) | GEMM_IF_DEFINED(__AVX512DQ__, kAvx512dq) |
    GEMM_IF_DEFINED(__AVX512BW__, kAvx512bw) | GEMM_IF_DEFINED(__AVX512VL__, kAvx512vl) |
    GEMM_IF_DEFINED(__AVX512VNNI__, kAvx512vnni) | GEMM_IF_DEFINED(__AVX512BF16__, kAvx512bf16);

}  // namespace
}  // namespace kernels

#undef GEMM_IF_DEFINED
#undef GEMM_TEXT
