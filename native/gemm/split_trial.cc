#include "gemm/split_linear.h"
#include "split_kernel.h"
#include "trial.h"
#include "trial_numbers.h"

namespace gemm {
namespace {

using namespace trial;

/// Of more than one step, the last one not full. Few, for the portable kernel takes its time.
constexpr int64_t kInputs = 37;
constexpr Storage kStorages[] = {Storage::kFloat32, Storage::kFloat16, Storage::kBFloat16};

/// Exactly: each part is the nearest number to what is missing.
std::string try_split(IllegalInstructionTrap& trap, const SplitKernel& kernel) {
  Numbers numbers;
  for (const int64_t count : {1, 15, 16, 33, 64}) {
    const Floats row = numbers.floats(count);
    for (const Parts parts : {Parts::kTwo, Parts::kThree}) {
      const int64_t part_size = count + kTileFill;
      std::vector<uint16_t> got(static_cast<size_t>(part_size * static_cast<int>(parts)));
      std::vector<uint16_t> wanted = got;
      kPortableSplitKernel.split(row.data(), count, parts, wanted.data(), part_size);
      if (!trap.run(
              [&]() noexcept { kernel.split(row.data(), count, parts, got.data(), part_size); })) {
        return kIllegal;
      }
      if (got != wanted) return differs("its split numbers");
    }
  }
  return kNothing;
}

std::string try_products(IllegalInstructionTrap& trap, const SplitKernel& kernel,
                         const StoredWeights& weights, Parts parts) {
  Numbers numbers;
  const Shape shape(kernel.panel_width, kernel.tile_rows);
  const auto inputs = static_cast<int64_t>(weights.count()) / shape.outputs;
  const Floats x = numbers.floats(shape.rows * inputs), x_sizes = sizes_of(x);
  const Floats bias = numbers.floats(shape.outputs), bias_sizes = sizes_of(bias);
  const StoredWeights sizes = weights.sizes();
  // Laid out for the kernel on trial, which runs nowhere but there.
  SplitKernel layout = kernel;
  layout.split = kPortableSplitKernel.split;
  std::vector<SplitRows> rows;  // one more each
  for (int64_t count = 1; count <= shape.rows; ++count) {
    rows.emplace_back(layout, x.data(), count, inputs, inputs, parts);
  }
  const auto multiply = [&shape](const SplitLinear& linear, const SplitRows& by, float* y) {
    linear.multiply(by, y, shape.stride, Activation::kNone, 0, shape.outputs);
  };
  const auto portable = [&](const StoredWeights& weight, const Floats& from, const Floats& biases) {
    Floats y = shape.untouched();
    multiply(SplitLinear(kPortableSplitKernel, weight.data(), weight.storage, biases.data(),
                         shape.outputs, inputs),
             SplitRows(kPortableSplitKernel, from.data(), shape.rows, inputs, inputs, parts),
             y.data());
    return y;
  };
  const Floats wanted = portable(weights, x, bias);
  const Floats magnitudes = portable(sizes, x_sizes, bias_sizes);
  const SplitLinear tried(kernel, weights.data(), weights.storage, bias.data(), shape.outputs,
                          inputs);
  return try_tiles(
      trap, shape, {wanted, tolerances_of(magnitudes, inputs)},
      [&](int64_t count, float* y) { multiply(tried, rows[static_cast<size_t>(count - 1)], y); });
}

}  // namespace

std::string find_problem(const SplitKernel& kernel) {
  IllegalInstructionTrap trap;
  std::string problem = try_split(trap, kernel);
  const int64_t outputs = Shape(kernel.panel_width, kernel.tile_rows).outputs;
  for (const Storage storage : kStorages) {
    Numbers numbers;
    const StoredWeights weights(storage, outputs * kInputs, numbers);
    for (const Parts parts : {Parts::kTwo, Parts::kThree}) {
      if (problem.empty()) problem = try_products(trap, kernel, weights, parts);
    }
  }
  return problem;
}

}  // namespace gemm
