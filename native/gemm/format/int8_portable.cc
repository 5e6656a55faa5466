// For every other processor, and what the other kernels are held against.
#include "format/int8.h"
#include "processor/compiled_for.h"
#include "processor/simd_portable.h"

namespace gemm {
namespace {

struct Product : IntegerSums<Simd> {
  static Partial add_product(Partial partial, Sum values, Sum weights) {
    constexpr int kByte = 8, kHighest = 24;
    for (int shift = 0; shift <= kHighest; shift += kByte) {
      const Sum value = (values >> shift) & 0xff;
      partial += value * ((weights << (kHighest - shift)) >> kHighest);
    }
    return partial;
  }
};

constexpr int kRows = 4;

}  // namespace

constinit const Kernel kInt8Portable{.name = "int8 portable",
                                     .needs = kCompiledFor,
                                     .panel_width = 2 * Simd::kLanes,
                                     .tile_rows = kRows,
                                     .value_bytes = 1,
                                     .inputs_together = kInputsTogether,
                                     .inputs_a_step = kGroup,
                                     .tiles = kTiles<Product, kRows>.of_rows,
                                     .round_rows = round_each<uint8_t, quantize_row<Simd>>};

}  // namespace gemm
