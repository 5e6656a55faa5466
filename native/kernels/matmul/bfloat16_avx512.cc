// bfloat16 with AVX512-BF16: one instruction adds two products to a sum, another rounds to
// bfloat16.
#include "matmul/bfloat16_avx512.h"

#include "cpu/compiled_for.h"

namespace kernels {
namespace {

constexpr int kRows = 12;

struct Product : FloatSums<Simd> {
  using Number = uint16_t;
  using Weight = uint16_t;
  static constexpr int kGroup = kPair;
  /// Two values in each lane.
  static __m512bh load(const Weight* from) { return (__m512bh)_mm512_loadu_si512(from); }
  static __m512bh broadcast(const Number* from) {
    int32_t pair;
    __builtin_memcpy(&pair, from, sizeof pair);
    return (__m512bh)_mm512_set1_epi32(pair);
  }
  static __m512 add_product(__m512 sum, __m512bh factor, __m512bh weights) {
    return _mm512_dpbf16_ps(sum, factor, weights);
  }
};

}  // namespace

constinit const Kernel kBFloat16Avx512{.name = "bfloat16 avx512-bf16",
                                       .needs = kCompiledFor,
                                       .nr = kPanelWidth,
                                       .mr = kRows,
                                       .value_bytes = sizeof(uint16_t),
                                       .kr = kPair,
                                       .k_step = kPair,
                                       .tiles = kTiles<Product, kRows>.of_rows,
                                       .pack_a = pack_rows<uint16_t, round_row>,
                                       .pack_exponentials = pack_exponentials,
                                       .pack_b_block = pack_b_block};

}  // namespace kernels
