// For every other processor, and what the other kernels are held against.
#include <cstring>

#include "compiled_for.h"
#include "int8_tiles.h"

namespace gemm {
namespace {

struct Simd {
  typedef float Floats __attribute__((vector_size(16)));      // NOLINT(modernize-use-using)
  typedef int32_t Integers __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 4;
  template <class Vector, class Stored>
  static Vector load_as(const Stored* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
  }
  static Integers load(const int8_t* from) { return load_as<Integers>(from); }
  static Integers load(const int32_t* from) { return load_as<Integers>(from); }
  static Floats load(const float* from) { return load_as<Floats>(from); }
  static Integers broadcast(int32_t four) { return Integers{four, four, four, four}; }
  static void store(float* to, Floats values) { std::memcpy(to, &values, sizeof values); }
  static Floats min(Floats a, Floats b) { return a < b ? a : b; }
  static Floats max(Floats a, Floats b) { return a > b ? a : b; }
  static Floats to_float(Integers values) { return __builtin_convertvector(values, Floats); }
  /// Whole numbers from 0 to 255, what follows the point is cut off.
  static void store_bytes(uint8_t* to, Floats values) {
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = static_cast<uint8_t>(values[lane]);
  }
  /// The sums themselves.
  using Partial = Integers;
  static Partial begin(Integers sums) { return sums; }
  static Partial add_products(Partial partial, Integers values, Integers weights) {
    constexpr int kByte = 8, kHighest = 24;
    for (int shift = 0; shift <= kHighest; shift += kByte) {
      const Integers value = (values >> shift) & 0xff;
      partial += value * ((weights << (kHighest - shift)) >> kHighest);
    }
    return partial;
  }
  static Integers end(Integers, Partial partial) { return partial; }
};

constexpr Int8TileFunction kTiles[] = {compute_int8_tile<Simd, 1>, compute_int8_tile<Simd, 2>,
                                       compute_int8_tile<Simd, 3>, compute_int8_tile<Simd, 4>};

}  // namespace

constinit const Int8Kernel kPortableInt8Kernel{.name = "int8 portable",
                                               .needs = kCompiledFor,
                                               .panel_width = 8,
                                               .tile_rows = 4,
                                               .tiles = kTiles,
                                               .quantize = quantize_row<Simd>};

}  // namespace gemm
