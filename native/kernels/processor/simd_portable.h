// Vectors of 4 floats or integers, as the compiler knows them.
#pragma once

#include <cstdint>
#include <cstring>

namespace kernels {
namespace {

struct Simd {
  typedef float Vector __attribute__((vector_size(16)));      // NOLINT(modernize-use-using)
  typedef int32_t Integers __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 4;
  /// As it lies anywhere. Not by memcpy: GCC 12 then keeps a tile's sums in memory on arm64.
  typedef float Stored  // NOLINT(modernize-use-using)
      __attribute__((vector_size(16), aligned(4), may_alias));
  static Vector load(const float* from) { return *reinterpret_cast<const Stored*>(from); }
  /// 16 bytes, whatever they stand for.
  static Integers load(const void* from) {
    Integers integers;
    std::memcpy(&integers, from, sizeof integers);
    return integers;
  }
  static Vector broadcast(const float* from) { return Vector{*from, *from, *from, *from}; }
  static Integers broadcast(int32_t bits) { return Integers{bits, bits, bits, bits}; }
  static void store(float* to, Vector vector) { *reinterpret_cast<Stored*>(to) = vector; }
  static Vector min(Vector a, Vector b) { return a < b ? a : b; }
  static Vector max(Vector a, Vector b) { return a > b ? a : b; }
  /// Of the lanes of values those with these numbers.
  static Vector permute(Vector values, Integers lanes) {
    Vector permuted;
    for (int lane = 0; lane < kLanes; ++lane) permuted[lane] = values[lanes[lane]];
    return permuted;
  }
  static Vector to_float(Integers values) { return __builtin_convertvector(values, Vector); }
  /// Whole numbers from 0 to 255, what follows the point is cut off.
  static void store_bytes(uint8_t* to, Vector values) {
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = static_cast<uint8_t>(values[lane]);
  }
};

}  // namespace
}  // namespace kernels
