#include "products/float32_choice.h"

#include <algorithm>
#include <vector>

#include "gemm/packed_linear.h"
#include "gemm/split_linear.h"
#include "products/measured_gain.h"

namespace backend {
namespace {

constexpr int64_t kOutputs = 768;
constexpr int64_t kInputs = 384;
constexpr int kRounds = 3;

/// The tokens of a text, and of a few. Where a classifier reads the first token alone, the last
/// layer is computed for a single row: about an eighth of a small model's products.
constexpr int64_t kRowCounts[] = {24, 96};
constexpr int kProductsOfAll = 8;

constexpr double kLeastGain = 1.15;

/// Of numbers that fill everything; their values do not matter.
struct Operands {
  explicit Operands(int64_t row_count)
      : rows(row_count),
        x(static_cast<size_t>(row_count * kInputs), 0.75F),
        y(static_cast<size_t>(row_count * kOutputs)) {}

  int64_t rows;
  std::vector<float> x, y;
};

void multiply(const gemm::PackedLinear& linear, Operands& operands, int64_t rows) {
  linear.multiply({.x = operands.x.data(),
                   .rows = rows,
                   .x_stride = kInputs,
                   .y = operands.y.data(),
                   .y_stride = kOutputs},
                  0, kOutputs);
}

void multiply(const gemm::SplitLinear& linear, Operands& operands, int64_t rows) {
  const gemm::SplitRows x(operands.x.data(), rows, kInputs, kInputs, gemm::Parts::kThree);
  linear.multiply(x, operands.y.data(), kOutputs, gemm::Activation::kNone, 0, kOutputs);
}

/// As often for all rows, and for one, as a model does.
template <class Linear>
void multiply_as_models_do(const Linear& linear, Operands& operands) {
  for (int i = 0; i < kProductsOfAll; ++i) multiply(linear, operands, operands.rows);
  multiply(linear, operands, 1);
}

bool is_faster_split() {
  if (!gemm::SplitLinear::is_fast()) return false;
  const std::vector<float> weight(static_cast<size_t>(kOutputs * kInputs), 0.01F);
  const gemm::PackedLinear whole(weight.data(), gemm::Storage::kFloat32, nullptr, kOutputs,
                                 kInputs);
  const gemm::SplitLinear split(weight.data(), gemm::Storage::kFloat32, nullptr, kOutputs, kInputs);
  return std::ranges::all_of(kRowCounts, [&](int64_t rows) {
    Operands operands(rows);
    const double gain = measured_gain(
        kRounds, [&] { multiply_as_models_do(whole, operands); },
        [&] { multiply_as_models_do(split, operands); });
    return gain >= kLeastGain;
  });
}

}  // namespace

bool float32_is_faster_split() {
  static const bool is_faster = is_faster_split();
  return is_faster;
}

}  // namespace backend
