#include "gemm/quantized_linear.h"
#include "trial.h"
#include "trial_numbers.h"

namespace gemm {
namespace {

using namespace trial;

/// Exactly, row by row: of numbers that fill vectors or do not, of zeros, of what is not finite.
std::string try_quantize(IllegalInstructionTrap& trap, const Int8Kernel& kernel) {
  Numbers numbers;
  for (const int64_t count : {1, 15, 16, 33, 64, 65}) {
    Floats row = numbers.floats(count);
    for (const float factor : {1.0F, 1e-3F, 0.0F, std::numeric_limits<float>::infinity()}) {
      row.back() *= factor;
      if (factor == 0) std::fill(row.begin(), row.end(), 0.0F);
      std::vector<uint8_t> got(static_cast<size_t>(count + kGap)), wanted = got;
      RowScale got_scale{},
          wanted_scale = kPortableInt8Kernel.quantize(row.data(), wanted.data(), count);
      if (!trap.run(
              [&]() noexcept { got_scale = kernel.quantize(row.data(), got.data(), count); })) {
        return kIllegal;
      }
      const bool both_none = std::isnan(got_scale.scale) && std::isnan(wanted_scale.scale);
      const bool alike = got_scale.scale == wanted_scale.scale &&
                         got_scale.zero_point == wanted_scale.zero_point && got == wanted;
      if (!both_none && !alike) return differs("its quantized rows");
    }
  }
  return kNothing;
}

/// Sums of integers are exact, and what follows is two operations in the same order.
std::string try_products(IllegalInstructionTrap& trap, const Int8Kernel& kernel, int64_t inputs) {
  Numbers numbers;
  const Shape shape(kernel.panel_width, kernel.tile_rows);
  const Floats x = numbers.floats(shape.rows * inputs);
  const Floats bias = numbers.floats(shape.outputs);
  const Floats weights = numbers.floats(shape.outputs * inputs);
  // Laid out for the kernel on trial, which runs nowhere but there.
  Int8Kernel layout = kernel;
  layout.quantize = kPortableInt8Kernel.quantize;
  std::vector<QuantizedRows> rows;  // one more each
  for (int64_t count = 1; count <= shape.rows; ++count) {
    rows.emplace_back(layout, x.data(), count, inputs, inputs);
  }
  const auto multiply = [&](const QuantizedLinear& linear, const QuantizedRows& by, float* y) {
    linear.multiply(by, y, shape.stride, Activation::kNone, 0, shape.outputs);
  };
  Floats wanted = shape.untouched();
  multiply(QuantizedLinear(kPortableInt8Kernel, weights.data(), bias.data(), shape.outputs, inputs),
           QuantizedRows(kPortableInt8Kernel, x.data(), shape.rows, inputs, inputs), wanted.data());
  const QuantizedLinear tried(kernel, weights.data(), bias.data(), shape.outputs, inputs);
  return try_tiles(trap, shape, {wanted, Floats(wanted.size())}, [&](int64_t count, float* y) {
    multiply(tried, rows[static_cast<size_t>(count - 1)], y);
  });
}

}  // namespace

std::string find_problem(const Int8Kernel& kernel) {
  IllegalInstructionTrap trap;
  std::string problem = try_quantize(trap, kernel);
  for (const int64_t inputs : kInputCounts) {
    if (problem.empty()) problem = try_products(trap, kernel, inputs);
  }
  return problem;
}

}  // namespace gemm
