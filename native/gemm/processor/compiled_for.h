// What a file's compiler was allowed to use: what a processor needs to run it. Of the compiler's
// own macros, so that what one option implies (-mavx512bf16: AVX512BW) cannot be forgotten.
#pragma once

#include "gemm/instructions.h"

namespace gemm {
namespace {

constexpr Instructions kCompiledFor = Instructions{0}
#if defined(__SSE3__)
                                      | kSse3
#endif
#if defined(__SSSE3__)
                                      | kSsse3
#endif
#if defined(__SSE4_1__)
                                      | kSse41
#endif
#if defined(__SSE4_2__)
                                      | kSse42
#endif
#if defined(__POPCNT__)
                                      | kPopcnt
#endif
#if defined(__XSAVE__)
                                      | kXsave
#endif
#if defined(__AVX__)
                                      | kAvx
#endif
#if defined(__F16C__)
                                      | kF16c
#endif
#if defined(__FMA__)
                                      | kFma
#endif
#if defined(__AVX2__)
                                      | kAvx2
#endif
#if defined(__AVX512F__)
                                      | kAvx512f
#endif
#if defined(__AVX512DQ__)
                                      | kAvx512dq
#endif
#if defined(__AVX512BW__)
                                      | kAvx512bw
#endif
#if defined(__AVX512VL__)
                                      | kAvx512vl
#endif
#if defined(__AVX512VNNI__)
                                      | kAvx512vnni
#endif
#if defined(__AVX512BF16__)
                                      | kAvx512bf16
#endif
#if defined(__AMX_TILE__)
                                      | kAmxTile
#endif
#if defined(__AMX_INT8__)
                                      | kAmxInt8
#endif
#if defined(__AMX_BF16__)
                                      | kAmxBf16
#endif
    ;

}  // namespace
}  // namespace gemm
