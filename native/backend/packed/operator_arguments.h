// Arguments of ATen's convolution and pooling operators.
#pragma once

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace backend {

/// A number for each dimension, if they are at least `least` and small enough that sums do not
/// overflow. A list of one number is that of all dimensions.
inline std::optional<std::vector<int64_t>> numbers_of(const c10::IValue& list, int64_t least,
                                                      size_t dimensions) {
  constexpr int64_t kMax = 1'000'000'000;
  if (!list.isIntList()) return std::nullopt;
  std::vector<int64_t> numbers = list.toIntVector();
  if (numbers.size() == 1) numbers.resize(dimensions, numbers.front());
  const bool is_valid = std::ranges::all_of(
      numbers, [least](int64_t number) { return number >= least && number <= kMax; });
  return numbers.size() == dimensions && is_valid ? std::optional(numbers) : std::nullopt;
}

}  // namespace backend
