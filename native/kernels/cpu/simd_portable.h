// Vectors of 4 floats or 32-bit integers with the compiler's vector extension.
#pragma once

#include <cstdint>
#include <cstring>

namespace kernels {
namespace {

struct Simd {
  typedef float Vector __attribute__((vector_size(16)));      // NOLINT(modernize-use-using)
  typedef int32_t Integers __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
  static constexpr int kLanes = 4;
  /// Unaligned vector. With memcpy instead, GCC 12 spills the sums of a tile on arm64.
  typedef float Stored  // NOLINT(modernize-use-using)
      __attribute__((vector_size(16), aligned(4), may_alias));
  static Vector load(const float* from) { return *reinterpret_cast<const Stored*>(from); }
  /// Loads 16 bytes of any type.
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
  static Integers max(Integers a, Integers b) { return a > b ? a : b; }
  /// Selects lanes of `values` by their numbers.
  static Vector permute(Vector values, Integers lanes) {
    Vector permuted;
    for (int lane = 0; lane < kLanes; ++lane) permuted[lane] = values[lanes[lane]];
    return permuted;
  }
  static Vector to_float(Integers values) { return __builtin_convertvector(values, Vector); }
  /// Truncates values to integers. NaN becomes 0.
  static Integers truncate(Vector values) {
    return __builtin_convertvector(values == values ? values : Vector{}, Integers);
  }
  static void store(void* to, Integers integers) { std::memcpy(to, &integers, sizeof integers); }
  /// Truncates values from 0 to 255 to integers and stores them as bytes.
  static void store_bytes(uint8_t* to, Vector values) { store_bytes(to, truncate(values)); }
  /// Stores integers from 0 to 255 as bytes.
  static void store_bytes(uint8_t* to, Integers values) {
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = static_cast<uint8_t>(values[lane]);
  }
};

}  // namespace
}  // namespace kernels
