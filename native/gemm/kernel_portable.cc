// For every other processor, and what the other kernels are held against: vectors of 4 floats, as
// the compiler knows them.
#include <bit>

#include "compiled_for.h"
#include "tiles.h"

namespace gemm {
namespace {

struct Simd {
  typedef float Vector __attribute__((vector_size(16)));      // NOLINT(modernize-use-using)
  typedef int32_t Integers __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 4;
  /// As it lies anywhere. Not by memcpy: GCC 12 then keeps a tile's sums in memory on arm64.
  typedef float Stored  // NOLINT(modernize-use-using)
      __attribute__((vector_size(16), aligned(4), may_alias));
  static Vector load(const float* from) { return *reinterpret_cast<const Stored*>(from); }
  static Vector broadcast(const float* from) { return Vector{*from, *from, *from, *from}; }
  static void store(float* to, Vector vector) { *reinterpret_cast<Stored*>(to) = vector; }
  static Vector gelu(Vector x) { return gelu_by_quotient(x); }
};

struct Float32 {
  using Stored = float;
  static Simd::Vector load(const Stored* from) { return Simd::load(from); }
};

float widen_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// The exponent's bias is corrected by a product, which also makes subnormal numbers right;
/// infinity and NaN keep an exponent of ones.
float widen_float16(uint16_t bits) {
  constexpr float kBias = 0x1p112F;
  constexpr uint32_t kExponent = 0x7c00;
  const uint32_t sign = (bits & 0x8000U) << 16;
  uint32_t magnitude = (bits & 0x7fffU) << 13;
  if ((bits & kExponent) == kExponent) {
    magnitude |= 0x7f800000U;
  } else {
    magnitude = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * kBias);
  }
  return std::bit_cast<float>(sign | magnitude);
}

template <float (*widen)(uint16_t)>
struct Widened {
  using Stored = uint16_t;
  static Simd::Vector load(const Stored* from) {
    return Simd::Vector{widen(from[0]), widen(from[1]), widen(from[2]), widen(from[3])};
  }
};

}  // namespace

constinit const Kernel kPortableKernel =
    make_kernel<Simd, Float32, Widened<widen_float16>, Widened<widen_bfloat16>, 6>("portable",
                                                                                   kCompiledFor);

}  // namespace gemm
