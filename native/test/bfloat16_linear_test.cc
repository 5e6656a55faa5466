// bfloat16 multiplication, compared with double precision on the same rounded operands.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/matmul.h"
#include "nearest_bfloat16.h"
#include "random_floats.h"
#include "supported_kernels.h"

namespace {

using kernels::Format;
using kernels::FormatKernel;
using kernels::Linear;
using kernels::Storage;

/// All kernels that this processor supports.
class BFloat16LinearTest : public testing::TestWithParam<FormatKernel> {};

INSTANTIATE_TEST_SUITE_P(Kernels, BFloat16LinearTest,
                         testing::ValuesIn(supported_kernels(Format::kBFloat16)),
                         kernel_name<testing::TestParamInfo<FormatKernel>>);

void expect_product(const FormatKernel& kernel, int64_t rows, int64_t outputs, int64_t inputs,
                    int64_t first, int64_t count) {
  const int64_t x_stride = inputs + 3;
  const int64_t y_stride = count + 2;
  const auto x = random_floats(static_cast<size_t>(rows * x_stride), 1);
  const auto weight = random_floats(static_cast<size_t>(outputs * inputs), 2);
  const auto bias = random_floats(static_cast<size_t>(outputs), 3);
  std::vector<float> y(static_cast<size_t>(rows * y_stride), 777);
  const Linear linear(kernel, {weight.data(), Storage::kFloat32, outputs, inputs}, bias.data());
  linear.multiply(linear.pack_a(x.data(), rows, x_stride), {first, count}, y.data(), y_stride);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t j = 0; j < y_stride; ++j) {
      const float got = y[static_cast<size_t>(row * y_stride + j)];
      if (j >= count) {
        ASSERT_EQ(got, 777);
        continue;
      }
      double sum = bias[static_cast<size_t>(first + j)];
      for (int64_t k = 0; k < inputs; ++k) {
        sum += double{nearest_bfloat16(x[static_cast<size_t>(row * x_stride + k)])} *
               nearest_bfloat16(weight[static_cast<size_t>((first + j) * inputs + k)]);
      }
      ASSERT_NEAR(got, sum, 2e-6 * static_cast<double>(inputs) + 1e-6) << row << ", " << j;
    }
  }
}

TEST_P(BFloat16LinearTest, EveryNumberOfRowsAndOutputs) {
  for (int64_t rows = 0; rows <= 70; ++rows) expect_product(GetParam(), rows, 64, 24, 0, 64);
  for (const int64_t outputs : {1, 2, 31, 32, 33, 65})
    expect_product(GetParam(), 4, outputs, 8, 0, outputs);
  for (const int64_t inputs : {1, 2, 3, 15, 17, 384, 1536})
    expect_product(GetParam(), 6, 40, inputs, 0, 40);
}

TEST_P(BFloat16LinearTest, RangeOfOutputs) {
  expect_product(GetParam(), 7, 108, 36, 36, 72);
  expect_product(GetParam(), 7, 108, 36, 5, 3);
  expect_product(GetParam(), 7, 108, 36, 0, 0);
}

/// All signs, exponents and low halves that affect rounding; NaN stays NaN.
TEST_P(BFloat16LinearTest, RoundsToNearestEven) {
  std::vector<float> values;
  for (uint32_t high = 0; high <= 0xffff; ++high) {
    const bool is_subnormal = (high & 0x7f80) == 0;  // the instructions flush subnormal values to 0
    if (is_subnormal && (high & 0x7fff) != 0) continue;
    for (const uint32_t low : {0x0U, 0x1U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      if (!is_subnormal || low == 0) values.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  const auto count = static_cast<int64_t>(values.size());
  const kernels::PackedA rows(GetParam(), values.data(), 1, count, count);
  const auto* const stored = static_cast<const uint16_t*>(rows.values(0));
  for (size_t i = 0; i < values.size(); ++i) {
    const float got = std::bit_cast<float>(uint32_t{stored[i]} << 16);
    if (std::isnan(values[i])) {
      ASSERT_TRUE(std::isnan(got));
    } else {
      ASSERT_EQ(got, nearest_bfloat16(values[i])) << values[i];
    }
  }
}

}  // namespace
