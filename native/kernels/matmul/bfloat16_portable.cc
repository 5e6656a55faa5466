// bfloat16 on all other processors; also the reference for the other kernel.

#include "cpu/compiled_for.h"
#include "cpu/simd_portable.h"
#include "matmul/convert.h"
#include "matmul/tile.h"

namespace kernels {
namespace {

constexpr int64_t kWidth = int64_t{2} * Simd::kLanes;
typedef uint32_t Pairs __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)

struct Product : FloatSums<Simd> {
  using Number = uint16_t;
  using Weight = uint16_t;
  static constexpr int kGroup = kPair;
  /// Two values in each lane.
  static Pairs load(const Weight* from) {
    return (Pairs)Simd::load(static_cast<const void*>(from));
  }
  static Pairs broadcast(const Number* from) {
    int32_t pair;
    __builtin_memcpy(&pair, from, sizeof pair);
    return (Pairs)Simd::broadcast(pair);
  }
  static Sum low(Pairs pairs) { return (Sum)(pairs << 16); }
  static Sum high(Pairs pairs) { return (Sum)(pairs & 0xffff0000U); }
  static Sum add_product(Sum sum, Pairs factor, Pairs weights) {
    return sum + (low(factor) * low(weights) + high(factor) * high(weights));
  }
};

RowScale round_row(const float* from, int64_t count, uint16_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = round_to_bfloat16(from[i]);
  return {};
}

void pack_b_block(const PanelToPack& panel) {
  for (int64_t k = 0; k < panel.padded; ++k) {
    for (int64_t j = 0; j < kWidth; ++j) {
      panel.to[(k / kPair * kWidth + j) * kPair + k % kPair] =
          k < panel.inputs ? round_to_bfloat16(panel.from[k * kWidth + j]) : uint16_t{0};
    }
  }
}

}  // namespace

uint16_t round_to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  constexpr uint32_t kQuiet = 0x40;  // keeps a NaN whose set bits are all in the low half
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  const uint32_t up = bits + 0x7fff + (bits >> 16 & 1);
  return static_cast<uint16_t>(is_nan ? bits >> 16 | kQuiet : up >> 16);
}

constinit const Kernel kBFloat16Portable{.name = "bfloat16 portable",
                                         .needs = kCompiledFor,
                                         .nr = kWidth,
                                         .mr = 4,
                                         .value_bytes = sizeof(uint16_t),
                                         .kr = kPair,
                                         .k_step = kPair,
                                         .tiles = kTiles<Product, 4>.of_rows,
                                         .pack_a = pack_rows<uint16_t, round_row>,
                                         .pack_b_block = pack_b_block};

}  // namespace kernels
