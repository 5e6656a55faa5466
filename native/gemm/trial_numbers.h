// What the trials of all kernels share: numbers, and how far apart answers may be.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gemm/packed_linear.h"
#include "illegal_instruction.h"

namespace gemm::trial {

using Floats = std::vector<float>;

inline constexpr const char* kNothing = "";
inline constexpr const char* kIllegal = "it ended in an illegal instruction";

/// Of a float's last place; rounding adds half of it.
inline constexpr float kUlp = std::numeric_limits<float>::epsilon();

/// Inputs that fill vectors, pairs, groups and tiles, and that do not. Columns between rows must
/// stay.
inline constexpr int64_t kInputCounts[] = {1, 37, 64, 150};
inline constexpr int64_t kGap = 5;

/// What a kernel may write behind a row that is filled up: zeros, to whole vectors.
inline constexpr int64_t kTileFill = 16;
inline constexpr float kUntouched = 777;

inline std::string differs(const char* what) {
  return std::string(what) + " differ from the portable kernel's";
}

/// The same numbers at each start: a kernel is right or wrong, not sometimes.
class Numbers {
 public:
  uint32_t bits() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth's, MMIX
    return static_cast<uint32_t>(state_ >> 32);
  }

  /// From −1 to 1.
  Floats floats(int64_t count) {
    Floats values(static_cast<size_t>(count));
    for (float& value : values) value = static_cast<float>(bits()) * 0x1p-31F - 1;
    return values;
  }

 private:
  uint64_t state_ = 1;
};

inline Floats sizes_of(Floats values) {
  for (float& value : values) value = std::abs(value);
  return values;
}

/// Weights as they are stored.
struct StoredWeights {
  StoredWeights(Storage stored_as, int64_t count, Numbers& numbers) : storage(stored_as) {
    if (storage == Storage::kFloat32) {
      floats = numbers.floats(count);
      return;
    }
    constexpr uint32_t kSign = 0x8000;
    // Finite, float16 also subnormal; bfloat16 from 2⁻¹⁵ to 2.
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t bits = numbers.bits();
      const uint32_t size = storage == Storage::kFloat16 ? bits % 0x4000 : 0x3800 + bits % 0x800;
      halves.push_back(static_cast<uint16_t>(size | (bits >> 16 & kSign)));
    }
  }

  StoredWeights sizes() const {
    StoredWeights result = *this;
    result.floats = sizes_of(floats);
    for (uint16_t& half : result.halves) half &= 0x7fff;
    return result;
  }

  size_t count() const { return storage == Storage::kFloat32 ? floats.size() : halves.size(); }

  const void* data() const {
    return storage == Storage::kFloat32 ? static_cast<const void*>(floats.data()) : halves.data();
  }

  Storage storage;
  Floats floats;
  std::vector<uint16_t> halves;
};

/// Whether each value is as near to what is wanted as its tolerance says; NaN is near to nothing.
inline bool are_near(const Floats& got, const Floats& wanted, const Floats& tolerances) {
  for (size_t i = 0; i < got.size(); ++i) {
    if (!(std::abs(got[i] - wanted[i]) <= tolerances[i])) return false;
  }
  return true;
}

/// What two sums of the same products may be apart, if each step of both is rounded: `sizes` are
/// the sums of what the products are without their signs. In the gaps between rows nothing.
inline Floats tolerances_of(const Floats& sizes, int64_t products) {
  Floats tolerances = sizes;
  for (float& size : tolerances) {
    size = size == kUntouched ? 0 : size * kUlp * static_cast<float>(products + 1);
  }
  return tolerances;
}

/// A product of as many rows as a tile has at most, held against fewer rows, too: how a row is
/// computed does not depend on the others. Its last panel is not full.
struct Shape {
  Shape(int panel_width, int tile_rows)
      : rows(tile_rows), outputs(panel_width + 3), stride(outputs + kGap) {}

  Floats untouched() const { return Floats(static_cast<size_t>(rows * stride), kUntouched); }

  /// What is wanted of the first rows alone.
  Floats first_rows(const Floats& all, int64_t count) const {
    Floats some = untouched();
    std::copy_n(all.begin(), count * stride, some.begin());
    return some;
  }

  int64_t rows, outputs, stride;
};

/// Of all rows of a shape.
struct Wanted {
  Floats values, tolerances;
};

/// Whether tiles of every number of rows give what is wanted. multiply(rows, y) must own nothing.
template <class Multiply>
std::string try_tiles(IllegalInstructionTrap& trap, const Shape& shape, const Wanted& wanted,
                      const Multiply& multiply) {
  for (int64_t rows = 1; rows <= shape.rows; ++rows) {
    Floats got = shape.untouched();
    float* const y = got.data();
    if (!trap.run([&multiply, rows, y]() noexcept { multiply(rows, y); })) return kIllegal;
    const Floats first_rows = shape.first_rows(wanted.values, rows);
    if (!are_near(got, first_rows, wanted.tolerances)) return differs("its products");
  }
  return kNothing;
}

}  // namespace gemm::trial
