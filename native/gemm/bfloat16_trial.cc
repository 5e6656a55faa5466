#include <bit>

#include "gemm/bfloat16_linear.h"
#include "tiling.h"
#include "trial.h"
#include "trial_numbers.h"

namespace gemm {
namespace {

using namespace trial;

/// Exactly: to even where two are as near, and what is no number.
std::string try_round(IllegalInstructionTrap& trap, const BFloat16Kernel& kernel) {
  Numbers numbers;
  for (const int64_t count : {1, 15, 16, 33, 64}) {
    Floats row = numbers.floats(count);
    for (size_t i = 0; i < row.size(); i += 2) {
      row[i] = std::bit_cast<float>((std::bit_cast<uint32_t>(row[i]) & 0xffff0000U) | 0x8000U);
    }
    if (count > 1) row[1] = -std::numeric_limits<float>::infinity();
    std::vector<uint16_t> got(static_cast<size_t>(count + kGap)), wanted = got;
    kPortableBFloat16Kernel.round(row.data(), wanted.data(), count);
    if (!trap.run([&]() noexcept { kernel.round(row.data(), got.data(), count); })) return kIllegal;
    if (got != wanted) return differs("its rounded numbers");
  }
  const float none = std::numeric_limits<float>::quiet_NaN();
  uint16_t stored = 0;
  if (!trap.run([&]() noexcept { kernel.round(&none, &stored, 1); })) return kIllegal;
  return (stored & 0x7fff) > 0x7f80 ? kNothing : differs("its rounded numbers");
}

/// Exactly; of rows that fill no pair, between others that are filled up.
std::string try_round_panel(IllegalInstructionTrap& trap, const BFloat16Kernel& kernel) {
  const int64_t width = kernel.panel_width, together = kernel.inputs_together;
  for (const int64_t inputs : {together - 1, together, 2 * together + 1}) {
    const int64_t filled = filled_up(inputs, together);
    const Floats panel = Numbers().floats(inputs * width);
    std::vector<uint16_t> got(static_cast<size_t>(filled * width + kGap)), wanted = got;
    std::vector<uint16_t> row(static_cast<size_t>(width));
    for (int64_t k = 0; k < inputs; ++k) {
      kPortableBFloat16Kernel.round(panel.data() + k * width, row.data(), width);
      for (int64_t j = 0; j < width; ++j) {
        const int64_t place = (k / kPair * width + j) * kPair + k % kPair;
        wanted[static_cast<size_t>(place)] = row[static_cast<size_t>(j)];
      }
    }
    uint16_t* const to = got.data();
    if (!trap.run([&]() noexcept { kernel.round_panel(panel.data(), inputs, filled, to); })) {
      return kIllegal;
    }
    if (got != wanted) return differs("its rounded panels");
  }
  return kNothing;
}

std::string try_products(IllegalInstructionTrap& trap, const BFloat16Kernel& kernel,
                         int64_t inputs) {
  Numbers numbers;
  const Shape shape(kernel.panel_width, kernel.tile_rows);
  const Floats x = numbers.floats(shape.rows * inputs), x_sizes = sizes_of(x);
  const Floats bias = numbers.floats(shape.outputs), bias_sizes = sizes_of(bias);
  const Floats weights = numbers.floats(shape.outputs * inputs), sizes = sizes_of(weights);
  // Laid out for the kernel on trial, which runs nowhere but there.
  BFloat16Kernel layout = kernel;
  layout.round = kPortableBFloat16Kernel.round;
  std::vector<BFloat16Rows> rows;  // one more each
  for (int64_t count = 1; count <= shape.rows; ++count) {
    rows.emplace_back(layout, x.data(), count, inputs, inputs);
  }
  const auto portable_rows = [&](const Floats& from) {
    return BFloat16Rows(kPortableBFloat16Kernel, from.data(), shape.rows, inputs, inputs);
  };
  const auto multiply = [&shape](const BFloat16Linear& linear, const BFloat16Rows& rows, float* y) {
    linear.multiply(rows, y, shape.stride, Activation::kNone, 0, shape.outputs);
  };
  Floats wanted = shape.untouched(), magnitudes = shape.untouched();
  multiply(
      BFloat16Linear(kPortableBFloat16Kernel, weights.data(), bias.data(), shape.outputs, inputs),
      portable_rows(x), wanted.data());
  multiply(BFloat16Linear(kPortableBFloat16Kernel, sizes.data(), bias_sizes.data(), shape.outputs,
                          inputs),
           portable_rows(x_sizes), magnitudes.data());
  const BFloat16Linear tried(kernel, weights.data(), bias.data(), shape.outputs, inputs);
  return try_tiles(
      trap, shape, {wanted, tolerances_of(magnitudes, inputs)},
      [&](int64_t count, float* y) { multiply(tried, rows[static_cast<size_t>(count - 1)], y); });
}

}  // namespace

std::string find_problem(const BFloat16Kernel& kernel) {
  IllegalInstructionTrap trap;
  std::string problem = try_round(trap, kernel);
  if (problem.empty()) problem = try_round_panel(trap, kernel);
  for (const int64_t inputs : kInputCounts) {
    if (problem.empty()) problem = try_products(trap, kernel, inputs);
  }
  return problem;
}

}  // namespace gemm
