#include <cmath>
#include <cstdint>
#include <vector>

#include "choice.h"
#include "gemm/bfloat16_linear.h"
#include "gemm/quantized_linear.h"
#include "gemm/split_linear.h"

namespace gemm {
namespace {

using Floats = std::vector<float>;

/// A panel and some outputs of another one; steps of a product, the last one not full.
constexpr int64_t kOutputs = 37, kInputs = 150;
/// Of one tile and of two, full and not.
constexpr int64_t kRowCounts[] = {1, 16, 23, 32};
/// What sums of so many products, of size 1 at most, may be apart in another order.
constexpr float kOrder = 1e-4F;

/// From −1 to 1, the same at each start. Source: Knuth's linear congruential generator, MMIX.
Floats some_floats(int64_t count) {
  Floats values(static_cast<size_t>(count));
  uint64_t state = 1;
  for (float& value : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<float>(state >> 32) * 0x1p-31F - 1;
  }
  return values;
}

/// multiply(kernel, x, rows, y) computes y: [rows, kOutputs].
template <class AnyKernel, class Multiply>
std::string compare(const AnyKernel& kernel, const AnyKernel& portable, float tolerance,
                    const Multiply& multiply) {
  if ((kernel.needs & kAmxTile) == 0) return "";
  for (const int64_t rows : kRowCounts) {
    const Floats x = some_floats(rows * kInputs);
    Floats got(static_cast<size_t>(rows * kOutputs)), wanted = got;
    multiply(kernel, x.data(), rows, got.data());
    multiply(portable, x.data(), rows, wanted.data());
    for (size_t i = 0; i < got.size(); ++i) {
      const bool is_near = std::abs(got[i] - wanted[i]) <= tolerance;  // false of NaN
      if (!is_near) return "its products differ from the portable kernel's";
    }
  }
  return "";
}

template <class Rows, class Linear>
constexpr auto kMultiply = [](const auto& by, const float* x, int64_t rows, float* y) {
  const Linear linear(by, some_floats(kOutputs * kInputs).data(), nullptr, kOutputs, kInputs);
  linear.multiply(Rows(by, x, rows, kInputs, kInputs), y, kOutputs, Activation::kNone, 0, kOutputs);
};

template <Parts kParts>
constexpr auto kMultiplySplit = [](const auto& by, const float* x, int64_t rows, float* y) {
  const Floats weights = some_floats(kOutputs * kInputs);
  const SplitLinear linear(by, weights.data(), Storage::kFloat32, nullptr, kOutputs, kInputs);
  linear.multiply(SplitRows(by, x, rows, kInputs, kInputs, kParts), y, kOutputs, Activation::kNone,
                  0, kOutputs);
};

}  // namespace

std::string find_problem(const Int8Kernel& kernel) {
  // Sums of integers are exact, and what follows is two operations in the same order.
  return compare(kernel, kPortableInt8Kernel, 0, kMultiply<QuantizedRows, QuantizedLinear>);
}

std::string find_problem(const BFloat16Kernel& kernel) {
  return compare(kernel, kPortableBFloat16Kernel, kOrder, kMultiply<BFloat16Rows, BFloat16Linear>);
}

std::string find_problem(const SplitKernel& kernel) {
  const auto with = [&kernel](const auto& multiply) {
    return compare(kernel, kPortableSplitKernel, kOrder, multiply);
  };
  const std::string problem = with(kMultiplySplit<Parts::kThree>);
  return problem.empty() ? with(kMultiplySplit<Parts::kTwo>) : problem;
}

}  // namespace gemm
