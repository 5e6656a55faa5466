// AVX512-BF16: two products are added to a sum by one instruction.
#include "format/bfloat16_avx512.h"

#include "format/bfloat16.h"
#include "processor/compiled_for.h"

namespace gemm {
namespace {

struct Product : FloatSums<Simd> {
  using Number = uint16_t;
  using Weight = uint16_t;
  static constexpr int kGroup = kPair;
  /// Two numbers in each of the lanes.
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

constexpr int kRows = 12;

}  // namespace

constinit const Kernel kBFloat16Avx512{.name = "bfloat16 avx512-bf16",
                                       .needs = kCompiledFor,
                                       .panel_width = kPanelWidth,
                                       .tile_rows = kRows,
                                       .value_bytes = sizeof(uint16_t),
                                       .inputs_together = kPair,
                                       .inputs_a_step = kPair,
                                       .tiles = kTiles<Product, kRows>.of_rows,
                                       .round_rows = round_each<uint16_t, round_row>,
                                       .round_exponentials = round_exponentials,
                                       .split_panel = split_panel};

}  // namespace gemm
