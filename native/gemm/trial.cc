#include "trial.h"

#include "gemm/packed_linear.h"
#include "tiling.h"
#include "trial_numbers.h"

namespace gemm {
namespace {

using namespace trial;

std::string try_products(IllegalInstructionTrap& trap, const Kernel& kernel, Storage storage,
                         int64_t inputs) {
  Numbers numbers;
  const Shape shape(kernel.panel_width, kernel.tile_rows);
  const int64_t x_stride = inputs + kGap;
  const Floats x = numbers.floats(shape.rows * x_stride), x_sizes = sizes_of(x);
  const Floats bias = numbers.floats(shape.outputs), bias_sizes = sizes_of(bias);
  const StoredWeights weights(storage, shape.outputs * inputs, numbers), sizes = weights.sizes();
  const auto multiply = [&shape, x_stride](const PackedLinear& linear, const Floats& from,
                                           int64_t rows, float* y) {
    linear.multiply(
        {.x = from.data(), .rows = rows, .x_stride = x_stride, .y = y, .y_stride = shape.stride}, 0,
        shape.outputs);
  };
  Floats wanted = shape.untouched(), magnitudes = shape.untouched();
  multiply(
      PackedLinear(kPortableKernel, weights.data(), storage, bias.data(), shape.outputs, inputs), x,
      shape.rows, wanted.data());
  multiply(PackedLinear(kPortableKernel, sizes.data(), storage, bias_sizes.data(), shape.outputs,
                        inputs),
           x_sizes, shape.rows, magnitudes.data());
  const PackedLinear tried(kernel, weights.data(), storage, bias.data(), shape.outputs, inputs);
  return try_tiles(trap, shape, {wanted, tolerances_of(magnitudes, inputs)},
                   [&](int64_t rows, float* y) { multiply(tried, x, rows, y); });
}

/// From −6 to 6, in rows with gaps.
std::string try_gelu(IllegalInstructionTrap& trap, const Kernel& kernel) {
  constexpr int64_t kRows = 3, kColumns = kWidestPanel, kStride = kColumns + kGap;
  constexpr float kFarthest = 6;
  Floats got = Numbers().floats(kRows * kStride);
  for (float& value : got) value *= kFarthest;
  Floats wanted = got, tolerances = got;
  // Each is within 3.5e-7 of the error function, of which half of x is a factor.
  for (float& x : tolerances) x = 1e-6F * std::max(1.0F, std::abs(x));
  kPortableKernel.gelu(wanted.data(), kRows, kColumns, kStride);
  float* const values = got.data();
  if (!trap.run([&kernel, values]() noexcept { kernel.gelu(values, kRows, kColumns, kStride); })) {
    return kIllegal;
  }
  return are_near(got, wanted, tolerances) ? kNothing : differs("its values of GELU");
}

std::string try_exponentials(IllegalInstructionTrap& trap, const Kernel& kernel) {
  constexpr int64_t kCount = static_cast<int64_t>(3) * kWidestPanel, kStride = kCount + kGap;
  const int64_t rows = kernel.tile_rows;
  Floats got = Numbers().floats(rows * kStride);
  constexpr float kFarthest = 20;
  for (float& score : got) score *= kFarthest;
  // What a query does not see.
  for (size_t i = 1; i < got.size(); i += 7) got[i] = -std::numeric_limits<float>::infinity();
  Floats wanted = got;
  Floats got_sums(static_cast<size_t>(rows)), wanted_sums = got_sums;
  kPortableKernel.exponentials(wanted.data(), rows, kStride, kCount, wanted_sums.data());
  float *const scores = got.data(), *const sums = got_sums.data();
  if (!trap.run([&kernel, rows, scores, sums]() noexcept {
        kernel.exponentials(scores, rows, kStride, kCount, sums);
      })) {
    return kIllegal;
  }
  // Each is within 2 units in the last place; what adds them up rounds kCount times at most.
  constexpr float kTolerance = 4 * kUlp, kSumTolerance = static_cast<float>(kCount) * kUlp;
  Floats tolerances = wanted, sum_tolerances = wanted_sums;
  for (float& value : tolerances) value = std::abs(value) * kTolerance;
  for (float& value : sum_tolerances) value *= kSumTolerance + kTolerance;
  // Gaps are compared, too, but for infinities, of which no difference is a number.
  for (Floats* const values : {&got, &wanted, &tolerances}) {
    std::erase_if(*values, [](float value) { return std::isinf(value); });
  }
  if (got.size() != wanted.size()) return differs("its exponentials");
  return are_near(got, wanted, tolerances) && are_near(got_sums, wanted_sums, sum_tolerances)
             ? kNothing
             : differs("its exponentials");
}

/// Of a head whose tokens fill no panel, and whose size fills no vector.
std::string try_attention_panels(IllegalInstructionTrap& trap, const Kernel& kernel) {
  constexpr int64_t kTokens = kWidestPanel + 3, kHeadSize = kWidestPanel + 5;
  constexpr int64_t kStride = kHeadSize + kGap;
  const int64_t width = kernel.panel_width;
  Numbers numbers;
  const Floats key = numbers.floats(kTokens * kStride), value = numbers.floats(kTokens * kStride);
  AttentionHead head{};
  head.key = key.data();
  head.value = value.data();
  head.tokens = kTokens;
  head.key_value_stride = kStride;
  head.head_size = kHeadSize;
  head.scale = 0.5F;  // no result is rounded
  Floats keys(static_cast<size_t>(filled_up(kTokens, width) * kHeadSize)), wanted_keys = keys;
  Floats values(static_cast<size_t>(filled_up(kHeadSize, width) * kTokens)), wanted_values = values;
  for (int64_t token = 0; token < kTokens; ++token) {
    for (int64_t i = 0; i < kHeadSize; ++i) {
      const auto from = static_cast<size_t>(token * kStride + i);
      const int64_t of_keys = (token / width * kHeadSize + i) * width + token % width;
      const int64_t of_values = (i / width * kTokens + token) * width + i % width;
      wanted_keys[static_cast<size_t>(of_keys)] = key[from] * head.scale;
      wanted_values[static_cast<size_t>(of_values)] = value[from];
    }
  }
  float *const to_keys = keys.data(), *const to_values = values.data();
  if (!trap.run([&kernel, &head, to_keys, to_values]() noexcept {
        kernel.pack_keys(head, to_keys);
        kernel.pack_values(head, to_values);
      })) {
    return kIllegal;
  }
  return keys == wanted_keys && values == wanted_values ? kNothing
                                                        : "its panels of keys and values are wrong";
}

/// With and without what may be left out, of rows that fill no vector.
std::string try_normalize(IllegalInstructionTrap& trap, const Kernel& kernel) {
  constexpr int64_t kRows = 3, kSize = 37;
  // Values are up to 2, what they are divided by is at least a quarter, weights are up to 1; mean
  // and variance are sums of kSize.
  constexpr float kTolerance = 16 * kUlp * static_cast<float>(kSize);
  Numbers numbers;
  const Floats x = numbers.floats(kRows * kSize), residual = numbers.floats(kRows * kSize);
  const Floats weight = numbers.floats(kSize), bias = numbers.floats(kSize);
  const Floats tolerances(x.size(), kTolerance);
  for (const bool has_residual : {false, true}) {
    for (const bool has_bias : {false, true}) {
      Floats got = x, wanted = x;
      const auto normalize = [&](const Kernel& by, Floats& y) {
        by.normalize({.x = x.data(),
                      .residual = has_residual ? residual.data() : nullptr,
                      .y = y.data(),
                      .rows = kRows,
                      .size = kSize,
                      .weight = weight.data(),
                      .bias = has_bias ? bias.data() : nullptr,
                      .epsilon = 1e-5F});
      };
      normalize(kPortableKernel, wanted);
      if (!trap.run([&]() noexcept { normalize(kernel, got); })) return kIllegal;
      if (!are_near(got, wanted, tolerances)) return differs("its normalized rows");
    }
  }
  return kNothing;
}

}  // namespace

std::string find_problem(const Kernel& kernel) {
  IllegalInstructionTrap trap;
  for (const Storage storage : {Storage::kFloat32, Storage::kFloat16, Storage::kBFloat16}) {
    for (const int64_t inputs : kInputCounts) {
      const std::string problem = try_products(trap, kernel, storage, inputs);
      if (!problem.empty()) return problem;
    }
  }
  for (const auto attempt : {try_gelu, try_exponentials, try_attention_panels, try_normalize}) {
    const std::string problem = attempt(trap, kernel);
    if (!problem.empty()) return problem;
  }
  return kNothing;
}

}  // namespace gemm
