// AVX-512 VNNI: four products of 8 bits are added to a sum by one instruction.
#include "format/int8.h"
#include "processor/compiled_for.h"
#include "processor/simd_avx512.h"

namespace gemm {
namespace {

struct Product : IntegerSums<Simd> {
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    return (Sum)_mm512_dpbusd_epi32((__m512i)partial, (__m512i)values, (__m512i)weights);
  }
};

constexpr int kRows = 12;

}  // namespace

constinit const Kernel kInt8Avx512{.name = "int8 avx512-vnni",
                                   .needs = kCompiledFor,
                                   .panel_width = 2 * Simd::kLanes,
                                   .tile_rows = kRows,
                                   .value_bytes = 1,
                                   .inputs_together = kInputsTogether,
                                   .inputs_a_step = kGroup,
                                   .tiles = kTiles<Product, kRows>.of_rows,
                                   .round_rows = round_each<uint8_t, quantize_row<Simd>>};

}  // namespace gemm
