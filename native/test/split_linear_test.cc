// Products of float32 numbers that are split into bfloat16, against sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "emulated_tiles.h"
#include "gemm/linear.h"
#include "random_floats.h"
#include "supported_kernels.h"

namespace {

using gemm::Activation;
using gemm::Format;
using gemm::FormatKernel;
using gemm::Kernel;
using gemm::Linear;
using gemm::Rows;
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

TEST_P(SplitLinearTest, GeluIsApplied) {
  constexpr size_t kRows = 14, kInputs = 16, kOutputs = 40;
  const auto x = random_floats(kRows * kInputs, 4);
  const auto weight = random_floats(kOutputs * kInputs, 5);
  const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, kOutputs, kInputs}, nullptr);
  const Rows rows(GetParam(), x.data(), kRows, kInputs, kInputs);
  std::vector<float> plain(kRows * kOutputs), gelu(kRows * kOutputs);
  linear.multiply(rows, {0, kOutputs}, plain.data(), kOutputs);
  linear.multiply(rows, {0, kOutputs, Activation::kGelu}, gelu.data(), kOutputs);
  for (size_t i = 0; i < plain.size(); ++i) {
    const double wanted = plain[i] / 2.0 * (1 + std::erf(plain[i] / std::sqrt(2.0)));
    ASSERT_NEAR(gelu[i], wanted, 1e-5) << i;
  }
}

/// Each row is added up in the same order, whichever rows and outputs are computed with it.
TEST_P(SplitLinearTest, ARowHasTheSameBitsInAnyCompany) {
  constexpr int64_t kRows = 50, kInputs = 71, kOutputs = 70;
  const auto x = random_floats(kRows * kInputs, 8);
  const auto weight = random_floats(kOutputs * kInputs, 9);
  for (const Format format : kBoth) {
    const Linear linear(by(format, *GetParam().kernel),
                        {weight.data(), Storage::kFloat32, kOutputs, kInputs}, nullptr);
    const auto multiply = [&](int64_t row, int64_t rows, int64_t first, int64_t count) {
      std::vector<float> y(static_cast<size_t>(rows * count));
      linear.multiply(linear.rows(x.data() + row * kInputs, rows, kInputs),
                      {first, count, Activation::kGelu}, y.data(), count);
      return y;
    };
    for (const int64_t row : {0, 1, 15, 16, 17, 31, 49}) {
      const std::vector<float> alone = multiply(row, 1, 0, kOutputs);
      for (const int64_t rows : {2, 16, 17, 32, 33, 49}) {
        if (row + rows > kRows) continue;
        const std::vector<float> together = multiply(row, rows, 0, kOutputs);
        ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin())) << row << rows;
      }
      const int64_t share = linear.panel_width();
      const std::vector<float> part = multiply(row, 1, share, share);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), alone.begin() + share)) << row;
    }
  }
}

/// What is no number, or infinite, stays in its row, and is no number there.
TEST_P(SplitLinearTest, WhatIsNoNumberStaysNone) {
  constexpr size_t kInputs = 20;
  const auto weight = random_floats(4 * kInputs, 7);
  const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, 4, kInputs}, nullptr);
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    auto x = random_floats(2 * kInputs, 6);
    x[3] = odd;
    float y[8];
    linear.multiply(linear.rows(x.data(), 2, kInputs), {0, 4}, y, 4);
    for (int i = 0; i < 8; ++i) EXPECT_EQ(std::isnan(y[i]), i < 4);
  }
}

}  // namespace
