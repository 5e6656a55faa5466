// Linear layers in every number format, with every kernel that this processor supports.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/matmul.h"
#include "random_floats.h"
#include "supported_kernels.h"

namespace {

using kernels::Epilogue;
using kernels::FormatKernel;
using kernels::Linear;
using kernels::PackedA;
using kernels::Storage;

std::vector<FormatKernel> kernels_of_all_formats() {
  std::vector<FormatKernel> all;
  for (const kernels::FormatDescription& format : kernels::formats()) {
    for (const FormatKernel& by : supported_kernels(format.format)) all.push_back(by);
  }
  return all;
}

class LinearTest : public testing::TestWithParam<FormatKernel> {};

INSTANTIATE_TEST_SUITE_P(Kernels, LinearTest, testing::ValuesIn(kernels_of_all_formats()),
                         kernel_name<testing::TestParamInfo<FormatKernel>>);

TEST_P(LinearTest, GeluIsApplied) {
  constexpr size_t kRows = 14, kInputs = 16, kOutputs = 40;
  const auto x = random_floats(kRows * kInputs, 4);
  const auto weight = random_floats(kOutputs * kInputs, 5);
  const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, kOutputs, kInputs}, nullptr);
  const PackedA rows(GetParam(), x.data(), kRows, kInputs, kInputs);
  std::vector<float> plain(kRows * kOutputs), gelu(kRows * kOutputs);
  linear.multiply(rows, {0, kOutputs}, plain.data(), kOutputs);
  linear.multiply(rows, {0, kOutputs, Epilogue::kGelu}, gelu.data(), kOutputs);
  for (size_t i = 0; i < plain.size(); ++i) {
    const double wanted = plain[i] / 2.0 * (1 + std::erf(plain[i] / std::sqrt(2.0)));
    ASSERT_NEAR(gelu[i], wanted, 1e-5) << i;
  }
}

/// Epilogues read y at the right position, also for parts of a panel, and change no other columns.
TEST_P(LinearTest, EpiloguesAddAndMultiplyInPlace) {
  constexpr size_t kRows = 14, kInputs = 16, kOutputs = 70, kStride = 80;
  const auto x = random_floats(kRows * kInputs, 4), before = random_floats(kRows * kStride, 6);
  const auto weight = random_floats(kOutputs * kInputs, 5);
  const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, kOutputs, kInputs}, nullptr);
  const PackedA rows(GetParam(), x.data(), kRows, kInputs, kInputs);
  std::vector<float> plain(kRows * kOutputs);
  linear.multiply(rows, {0, kOutputs}, plain.data(), kOutputs);
  for (const size_t first : {0U, 3U}) {
    const auto count = static_cast<int64_t>(kOutputs - first);
    for (const Epilogue epilogue : {Epilogue::kAdd, Epilogue::kMultiply}) {
      std::vector<float> y = before;
      linear.multiply(rows, {static_cast<int64_t>(first), count, epilogue}, y.data() + first,
                      kStride);
      for (size_t i = 0; i < y.size(); ++i) {
        const size_t row = i / kStride, column = i % kStride;
        const bool is_written = column >= first && column < kOutputs;
        const float product = is_written ? plain[row * kOutputs + column] : 0;
        const float wanted = epilogue == Epilogue::kAdd ? before[i] + product : before[i] * product;
        ASSERT_EQ(y[i], is_written ? wanted : before[i]) << row << ", " << column;
      }
    }
  }
}

/// The bits of a row do not depend on the rows and outputs that are computed with it. So a response
/// does not depend on the batch, nor on the number of threads.
TEST_P(LinearTest, ARowHasTheSameBitsInAnyBatch) {
  constexpr int64_t kRows = 50, kInputs = 71, kOutputs = 70;
  const auto x = random_floats(kRows * kInputs, 8);
  const auto weight = random_floats(kOutputs * kInputs, 9);
  const auto bias = random_floats(kOutputs, 10);
  const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, kOutputs, kInputs},
                      bias.data());
  const auto multiply = [&](int64_t row, int64_t rows, int64_t first, int64_t count) {
    std::vector<float> y(static_cast<size_t>(rows * count));
    linear.multiply(linear.pack_a(x.data() + row * kInputs, rows, kInputs),
                    {first, count, Epilogue::kGelu}, y.data(), count);
    return y;
  };
  for (const int64_t row : {0, 1, 5, 15, 16, 17, 31, 49}) {
    const std::vector<float> alone = multiply(row, 1, 0, kOutputs);
    for (const int64_t rows : {2, 3, 4, 5, 6, 7, 11, 12, 13, 16, 17, 25, 32, 33, 49}) {
      if (row + rows > kRows) continue;
      const std::vector<float> together = multiply(row, rows, 0, kOutputs);
      ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin())) << row << ", " << rows;
    }
    const int64_t share = linear.nr();
    for (int64_t first = 0; first + share <= kOutputs; first += share) {
      const std::vector<float> part = multiply(row, 1, first, share);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), alone.begin() + first)) << row;
    }
  }
}

/// NaN and infinities affect only their own row, whose result is not finite.
TEST_P(LinearTest, PropagatesNaN) {
  constexpr size_t kInputs = 40;
  const auto weight = random_floats(4 * kInputs, 7);
  const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, 4, kInputs}, nullptr);
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    for (const size_t place : {0U, 3U, 20U, 39U}) {
      auto x = random_floats(2 * kInputs, 6);
      x[place] = odd;
      float y[8];
      linear.multiply(linear.pack_a(x.data(), 2, kInputs), {0, 4}, y, 4);
      for (int i = 0; i < 8; ++i) {
        EXPECT_EQ(std::isfinite(y[i]), i >= 4);
      }
    }
  }
}

}  // namespace
