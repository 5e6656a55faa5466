// Products of float32 numbers that are split into bfloat16, against sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "emulated_tiles.h"
#include "gemm/linear.h"
#include "random_floats.h"
#include "supported_kernels.h"

namespace {

using gemm::Format;
using gemm::FormatKernel;
using gemm::Kernel;
using gemm::Linear;
using gemm::Storage;

constexpr Storage kStorages[] = {Storage::kFloat32, Storage::kFloat16, Storage::kBFloat16};
constexpr Format kBoth[] = {Format::kBFloat16x3, Format::kBFloat16x6};

/// With every kernel that this processor runs, and AMX.
class SplitLinearTest : public testing::TestWithParam<FormatKernel> {
  EmulatedTiles tiles_;
};

INSTANTIATE_TEST_SUITE_P(Kernels, SplitLinearTest,
                         testing::ValuesIn(testable_kernels(Format::kBFloat16x6)),
                         kernel_name<testing::TestParamInfo<FormatKernel>>);

/// Weights as they are stored, and their values.
struct Weights {
  Weights(Storage storage, size_t count) : floats(random_floats(count, 2)) {
    if (storage == Storage::kFloat32) return;
    for (float& value : floats) {
      // 11 bits or 8 of it, none of them subnormal.
      const unsigned dropped = storage == Storage::kFloat16 ? 13 : 16;
      value = std::copysign(std::clamp(std::abs(value), 0x1p-10F, 8.0F), value);
      const uint32_t bits = std::bit_cast<uint32_t>(value) >> dropped << dropped;
      value = std::bit_cast<float>(bits);
      const uint32_t exponent = (bits >> 23 & 0xff) - 112;
      const uint32_t half = (bits >> 16 & 0x8000) | exponent << 10 | (bits >> 13 & 0x3ff);
      halves.push_back(static_cast<uint16_t>(storage == Storage::kFloat16 ? half : bits >> 16));
    }
  }
  const void* data() const {
    return halves.empty() ? static_cast<const void*>(floats.data()) : halves.data();
  }

  std::vector<float> floats;
  std::vector<uint16_t> halves;
};

FormatKernel by(Format format, const Kernel& kernel) {
  return {gemm::description_of(format), kernel};
}

struct Case {
  int64_t rows, outputs, inputs, first, count;
};

/// The largest error relative to the largest result.
double worst_error(const Kernel& kernel, Storage storage, Format format, const Case& shape) {
  const auto [rows, outputs, inputs, first, count] = shape;
  const int64_t x_stride = inputs + 3, y_stride = count + 2;
  const auto x = random_floats(static_cast<size_t>(rows * x_stride), 1);
  const Weights weight(storage, static_cast<size_t>(outputs * inputs));
  const auto bias = random_floats(static_cast<size_t>(outputs), 3);
  std::vector<float> y(static_cast<size_t>(rows * y_stride), 777);
  const Linear linear(by(format, kernel), {weight.data(), storage, outputs, inputs}, bias.data());
  linear.multiply(linear.rows(x.data(), rows, x_stride), {first, count}, y.data(), y_stride);
  double worst = 0, largest = 1;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t j = 0; j < y_stride; ++j) {
      const float got = y[static_cast<size_t>(row * y_stride + j)];
      if (j >= count) {
        EXPECT_EQ(got, 777);
        continue;
      }
      double sum = bias[static_cast<size_t>(first + j)];
      for (int64_t k = 0; k < inputs; ++k) {
        sum += double{x[static_cast<size_t>(row * x_stride + k)]} *
               weight.floats[static_cast<size_t>((first + j) * inputs + k)];
      }
      worst = std::max(worst, std::isfinite(got) ? std::abs(got - sum) : INFINITY);
      largest = std::max(largest, std::abs(sum));
    }
  }
  return worst / largest;
}

/// With three parts as exact as float32, whose sums of many numbers are rounded more often; with
/// two 2⁻¹⁷ of each product is missing at most.
void expect_product(const Kernel& kernel, const Case& shape) {
  const double exact = 1e-6 * std::max(1.0, static_cast<double>(shape.inputs) / 512);
  for (const Storage storage : kStorages) {
    EXPECT_LT(worst_error(kernel, storage, Format::kBFloat16x6, shape), exact) << shape.rows;
    EXPECT_LT(worst_error(kernel, storage, Format::kBFloat16x3, shape), 3e-5) << shape.rows;
  }
}

TEST_P(SplitLinearTest, EveryNumberOfRowsAndOutputs) {
  for (int64_t rows = 0; rows <= 40; ++rows)
    expect_product(*GetParam().kernel, {rows, 64, 24, 0, 64});
  for (const int64_t outputs : {1, 2, 31, 32, 33, 65})
    expect_product(*GetParam().kernel, {4, outputs, 8, 0, outputs});
  for (const int64_t inputs : {1, 2, 3, 15, 17, 31, 33, 70, 384, 1536})
    expect_product(*GetParam().kernel, {6, 40, inputs, 0, 40});
}

TEST_P(SplitLinearTest, SomeOfTheOutputs) {
  expect_product(*GetParam().kernel, {7, 108, 36, 36, 72});
  expect_product(*GetParam().kernel, {7, 108, 36, 5, 3});
  expect_product(*GetParam().kernel, {7, 108, 36, 0, 0});
}

TEST_P(SplitLinearTest, MoreRowsThanOneBlockHolds) {
  const Case shape{70, 40, 3072, 0, 40};
  EXPECT_LT(worst_error(*GetParam().kernel, Storage::kFloat32, Format::kBFloat16x6, shape), 6e-6);
}

/// What each number of parts is for: two are far from float32, but nearer than bfloat16.
TEST_P(SplitLinearTest, MorePartsAreMoreExact) {
  const Case shape{32, 64, 384, 0, 64};
  const double three =
      worst_error(*GetParam().kernel, Storage::kFloat32, Format::kBFloat16x6, shape);
  const double two = worst_error(*GetParam().kernel, Storage::kFloat32, Format::kBFloat16x3, shape);
  EXPECT_LT(three, 1e-6);
  EXPECT_GT(two, 1e-6);
  EXPECT_LT(two, 1.5e-5);
}

/// Every bit of what three parts have: 24 of a float32.
TEST_P(SplitLinearTest, ThreePartsAreAllOfANumber) {
  std::vector<float> x = random_floats(1000, 4);
  const float one = 1;
  const Linear linear(GetParam(), {&one, Storage::kFloat32, 1, 1}, nullptr);
  std::vector<float> y(x.size());
  linear.multiply(linear.rows(x.data(), 1000, 1), {0, 1}, y.data(), 1);
  EXPECT_EQ(y, x);
  const Linear other(GetParam(), {x.data(), Storage::kFloat32, 1000, 1}, nullptr);
  other.multiply(other.rows(&one, 1, 1), {0, 1000}, y.data(), 1000);
  EXPECT_EQ(y, x);
}

/// Every fifth float16, subnormal ones too, through a product with 1.
TEST_P(SplitLinearTest, TwoPartsAreAllOfAFloat16) {
  std::vector<uint16_t> weight;
  for (uint32_t bits = 0; bits <= 0xffff; bits += 5) {
    if ((bits & 0x7c00) != 0x7c00) weight.push_back(static_cast<uint16_t>(bits));
  }
  const auto count = static_cast<int64_t>(weight.size());
  const float one = 1;
  std::vector<float> y(weight.size()), wanted(weight.size());
  const gemm::StoredWeight stored{weight.data(), Storage::kFloat16, count, 1};
  const Linear exact(Format::kFloat32, stored, nullptr);
  exact.multiply(exact.rows(&one, 1, 1), {0, count}, wanted.data(), count);
  for (const Format format : kBoth) {
    const Linear linear(by(format, *GetParam().kernel), stored, nullptr);
    linear.multiply(linear.rows(&one, 1, 1), {0, count}, y.data(), count);
    EXPECT_EQ(y, wanted);
  }
}

}  // namespace
