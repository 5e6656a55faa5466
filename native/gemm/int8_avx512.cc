// AVX-512 VNNI: four products of 8 bits are added to a sum by one instruction.
#include "int8_avx512.h"

#include "compiled_for.h"
#include "int8_tiles.h"

namespace gemm {
namespace {

struct Vnni : Simd {
  /// The sums themselves.
  using Partial = Integers;
  static Partial begin(Integers sums) { return sums; }
  static Partial add_products(Partial partial, Integers values, Integers weights) {
    return (Integers)_mm512_dpbusd_epi32((__m512i)partial, (__m512i)values, (__m512i)weights);
  }
  static Integers end(Integers, Partial partial) { return partial; }
};

constexpr Int8TileFunction kTiles[] = {
    compute_int8_tile<Vnni, 1>,  compute_int8_tile<Vnni, 2>,  compute_int8_tile<Vnni, 3>,
    compute_int8_tile<Vnni, 4>,  compute_int8_tile<Vnni, 5>,  compute_int8_tile<Vnni, 6>,
    compute_int8_tile<Vnni, 7>,  compute_int8_tile<Vnni, 8>,  compute_int8_tile<Vnni, 9>,
    compute_int8_tile<Vnni, 10>, compute_int8_tile<Vnni, 11>, compute_int8_tile<Vnni, 12>};

}  // namespace

constinit const Int8Kernel kInt8Avx512Kernel{.name = "int8 avx512-vnni",
                                             .needs = kCompiledFor,
                                             .panel_width = 32,
                                             .tile_rows = 12,
                                             .tiles = kTiles,
                                             .quantize = quantize_row<Simd>};

}  // namespace gemm
