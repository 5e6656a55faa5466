// Factors that are sums of bfloat16 numbers.
#pragma once

#include "gemm/linear.h"

namespace gemm {

/// Numbers that one instruction multiplies and adds up.
constexpr int kPair = 2;

/// Products of a part of x and a part of the weights, in the order in which they are added up.
struct PartProducts {
  struct Product {
    int x, weight;
  };
  int count;
  Product products[6];
};

/// All that matter: where a part is of the size 2⁻⁹ᵏ, those of which the sizes make up less than
/// 2⁻⁹ ˣ parts are left out. Small ones come first, and each shares a factor with the one before.
constexpr PartProducts part_products(int x_parts, int weight_parts) {
  if (x_parts == 1) return {1, {{0, 0}}};
  if (x_parts == 2) {
    if (weight_parts == 1) return {2, {{1, 0}, {0, 0}}};
    return {3, {{1, 0}, {0, 0}, {0, 1}}};
  }
  if (weight_parts == 1) return {3, {{2, 0}, {1, 0}, {0, 0}}};
  if (weight_parts == 2) return {5, {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}};
  return {6, {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}}};
}

/// What a weight of this storage is made of, where x has so many parts.
constexpr int weight_parts(Storage storage, int x_parts) {
  switch (storage) {
    case Storage::kFloat32:
      return x_parts;
    case Storage::kFloat16:
      return 2;  // 11 bits
    case Storage::kBFloat16:
      return 1;
  }
  return x_parts;
}

/// To the nearest number of 8 bits, to even where two are as near; what is too large becomes an
/// infinity, NaN stays.
uint16_t round_to_bfloat16(float value);

}  // namespace gemm
