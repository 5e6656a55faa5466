// int8 multiplication, compared with the same quantization in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/matmul.h"
#include "random_floats.h"
#include "supported_kernels.h"

namespace {

using kernels::Format;
using kernels::FormatKernel;
using kernels::Linear;
using kernels::PackedA;
using kernels::Storage;

/// All kernels that this processor supports.
class Int8LinearTest : public testing::TestWithParam<FormatKernel> {};

INSTANTIATE_TEST_SUITE_P(Kernels, Int8LinearTest,
                         testing::ValuesIn(supported_kernels(Format::kInt8)),
                         kernel_name<testing::TestParamInfo<FormatKernel>>);
INSTANTIATE_TEST_SUITE_P(VnniKernels, Int8LinearTest,
                         testing::ValuesIn(supported_kernels(Format::kInt8Vnni)),
                         kernel_name<testing::TestParamInfo<FormatKernel>>);

bool has_eight_bits() { return Int8LinearTest::GetParam().format->format == Format::kInt8Vnni; }

/// Largest integer of a row.
int most_of_rows() { return has_eight_bits() ? 255 : 127; }

/// `values` after quantization to integers from 0 to most_of_rows() with a zero point.
std::vector<double> quantized_row(const float* values, int64_t count) {
  const auto most = static_cast<float>(most_of_rows());
  const auto [low, high] = std::minmax_element(values, values + count);
  const float lowest = std::min(*low, 0.0F);
  const float scale = (std::max(*high, 0.0F) - lowest) / most;
  const double zero_point = std::nearbyint(-lowest / scale);
  std::vector<double> result;
  result.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const double value = std::floor(values[i] / double{scale} + zero_point + 0.5);
    result.push_back((std::clamp(value, 0.0, double{most}) - zero_point) * scale);
  }
  return result;
}

/// Quantized weights: for 16 inputs, the first and the second pair of each group of four share a
/// 16-bit lane, whose maximum is 258 × 127. Rounding of 8 weights may add 4. int8-vnni has no such
/// lanes.
std::vector<double> quantized_weights(const float* values, int64_t count) {
  float most = 0, most_in_lane = 0;
  for (int64_t first = 0; first < count; first += 16) {
    float lanes[2] = {};
    for (int64_t k = first; k < std::min(first + 16, count); ++k) {
      most = std::max(most, std::abs(values[k]));
      lanes[k / 2 % 2] += std::abs(values[k]);
    }
    most_in_lane = std::max({most_in_lane, lanes[0], lanes[1]});
  }
  const float scale = std::max(most / 127, has_eight_bits() ? 0 : most_in_lane / 254);
  std::vector<double> result;
  result.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(std::nearbyint(values[i] / scale) * scale);
  }
  return result;
}

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
    const auto values = quantized_row(x.data() + row * x_stride, inputs);
    for (int64_t j = 0; j < y_stride; ++j) {
      const float got = y[static_cast<size_t>(row * y_stride + j)];
      if (j >= count) {
        ASSERT_EQ(got, 777);
        continue;
      }
      const auto weights = quantized_weights(weight.data() + (first + j) * inputs, inputs);
      double sum = bias[static_cast<size_t>(first + j)];
      for (size_t k = 0; k < weights.size(); ++k) sum += values[k] * weights[k];
      // A value halfway between two integers may be rounded in either direction.
      const double step = std::abs(weights.front()) + 3.0 / 40;
      ASSERT_NEAR(got, sum, 0.02 * step + 1e-5 * static_cast<double>(inputs)) << row << ", " << j;
    }
  }
}

TEST_P(Int8LinearTest, EveryNumberOfRowsAndOutputs) {
  for (int64_t rows = 0; rows <= 70; ++rows) expect_product(GetParam(), rows, 64, 24, 0, 64);
  for (const int64_t outputs : {1, 2, 15, 16, 17, 33})
    expect_product(GetParam(), 4, outputs, 8, 0, outputs);
  for (const int64_t inputs : {1, 2, 3, 5, 7, 384, 1536})
    expect_product(GetParam(), 6, 20, inputs, 0, 20);
}

TEST_P(Int8LinearTest, RangeOfOutputs) {
  expect_product(GetParam(), 7, 108, 36, 36, 72);
  expect_product(GetParam(), 7, 108, 36, 5, 3);
  expect_product(GetParam(), 7, 108, 36, 0, 0);
}

/// Maximum values with weights of one sign, for which unlimited weights would overflow 16-bit sums.
TEST_P(Int8LinearTest, SumsDoNotOverflow) {
  constexpr size_t kInputs = 1536;
  std::vector<std::vector<float>> examples{std::vector<float>(kInputs, 1),
                                           std::vector<float>(kInputs, -1),
                                           std::vector<float>(kInputs, 0.01F)};
  for (size_t i = 0; i < 16; ++i) examples.back()[160 + i] = i / 2 % 2 == 0 ? 1 : 0.01F;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    examples.push_back(random_floats(kInputs, seed));
    for (float& value : examples.back()) value = std::abs(value);
  }
  const std::vector<float> ones(kInputs, 1);
  const PackedA x(GetParam(), ones.data(), 1, kInputs, kInputs);
  for (const auto& weight : examples) {
    double sum = 0;
    for (const double value : quantized_weights(weight.data(), kInputs)) sum += value;
    const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, 1, kInputs}, nullptr);
    float y = 0;
    linear.multiply(x, {0, 1}, &y, 1);
    EXPECT_NEAR(y, sum, std::abs(sum) * 1e-4);
  }
}

/// Maximum sums of both signs, around the limit of inputs and far beyond it.
TEST_P(Int8LinearTest, SumsOfAnyNumberOfInputsDoNotOverflow) {
  for (const int64_t inputs : {66'304, 66'320, 133'136, 524'288, 524'304, 524'320, 1'048'608}) {
    const auto count = static_cast<size_t>(inputs);
    // Each lane has the sum 7 × 32 + 30 = 254, the maximum without rounding.
    std::vector<float> weight(2 * count, 32);
    for (size_t k = 0; k < count; k += 16) weight[k] = weight[k + 2] = 30;
    for (size_t k = 0; k < count; ++k) weight[count + k] = -weight[k];
    const double sum = std::accumulate(weight.begin(), weight.begin() + inputs, 0.0);
    const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, 2, inputs}, nullptr);
    for (const float value : {1.0F, -1.0F}) {
      const std::vector<float> x(count, value);
      float y[2];
      linear.multiply(linear.pack_a(x.data(), 1, inputs), {0, 2}, y, 2);
      EXPECT_NEAR(y[0] / (value * sum), 1, 1e-4) << inputs << ", " << value;
      EXPECT_NEAR(y[1] / (-value * sum), 1, 1e-4) << inputs << ", " << value;
    }
  }
}

/// Bitwise equality.
TEST_P(Int8LinearTest, MatchesThePortableKernel) {
  constexpr int64_t kRows = 41, kInputs = 203, kOutputs = 71;
  const auto x = random_floats(kRows * kInputs, 8);
  const auto weight = random_floats(kOutputs * kInputs, 9);
  const auto bias = random_floats(kOutputs, 10);
  const auto answers = [&](const FormatKernel& kernel) {
    std::vector<float> y(kRows * kOutputs);
    const Linear linear(kernel, {weight.data(), Storage::kFloat32, kOutputs, kInputs}, bias.data());
    linear.multiply(linear.pack_a(x.data(), kRows, kInputs), {0, kOutputs}, y.data(), kOutputs);
    return y;
  };
  EXPECT_EQ(answers(GetParam()), answers(supported_kernels(GetParam().format->format).front()));
}

/// Each row has its own scale: a row with large values does not affect other rows.
TEST_P(Int8LinearTest, RowsDoNotDependOnEachOther) {
  constexpr int64_t kInputs = 32;
  auto x = random_floats(2 * kInputs, 4);
  const auto weight = random_floats(8 * kInputs, 5);
  const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, 8, kInputs}, nullptr);
  float alone[8], together[16];
  linear.multiply(linear.pack_a(x.data(), 1, kInputs), {0, 8}, alone, 8);
  for (size_t k = kInputs; k < x.size(); ++k) x[k] *= 1e6F;
  linear.multiply(linear.pack_a(x.data(), 2, kInputs), {0, 8}, together, 8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(alone[i], together[i]);
}

/// Scales down to the smallest float32: 0 and the maximum are represented exactly.
TEST_P(Int8LinearTest, RowsWithATinyRange) {
  constexpr float kLeast = 0x1p-126F, kSmallest = 0x1p-149F;
  std::vector<float> weight(40, 0);
  weight[3] = weight[39] = 0x1p60F;
  const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, 1, 40}, nullptr);
  for (const float size : {kSmallest, 100 * kSmallest, 0x1p-130F, kLeast, 100 * kLeast,
                           127 * kLeast, 128 * kLeast, 256 * kLeast, 0x1p-100F}) {
    for (const float sign : {1.0F, -1.0F}) {
      SCOPED_TRACE(sign * size);
      std::vector<float> x(40, 0);
      x[3] = x[39] = sign * size;
      const PackedA rows(GetParam(), x.data(), 1, 40, 40);
      const float scale = rows.scales(0)->scale;
      EXPECT_GE(scale, kLeast);
      EXPECT_LE(scale, std::max(kLeast, 1.01F * size / static_cast<float>(most_of_rows())));
      EXPECT_GE(rows.scales(0)->zero_point, 0);
      EXPECT_LE(rows.scales(0)->zero_point, most_of_rows());
      float y = 0;
      linear.multiply(rows, {0, 1}, &y, 1);
      // The error is half a step at most, and 0 for exact multiples of the step.
      EXPECT_NEAR(y / 0x1p60F, sign * 2 * size, 2 * scale);
    }
  }
}

/// Quantized weights are limited to 127, so they do not wrap in 8 bits.
TEST_P(Int8LinearTest, TinyWeights) {
  const std::vector<float> x(16, 127);  // 127 steps of 1
  const PackedA rows(GetParam(), x.data(), 1, 16, 16);
  for (const float size : {0x1p-149F, 190 * 0x1p-149F, 0x1p-130F, 0x1p-126F, 0x1p-120F}) {
    for (const float sign : {1.0F, -1.0F}) {
      SCOPED_TRACE(sign * size);
      std::vector<float> weight(16, 0);
      weight[5] = sign * size;
      const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, 1, 16}, nullptr);
      float y = 0;
      linear.multiply(rows, {0, 1}, &y, 1);
      EXPECT_LE(std::abs(y / 127 - sign * size), std::min(size, 0x1p-127F));
    }
  }
}

/// NaN in the weights of one output affects only that output.
TEST_P(Int8LinearTest, PropagatesNaNWeights) {
  const std::vector<float> x(20, 1);
  const PackedA rows(GetParam(), x.data(), 1, 20, 20);
  for (const float odd :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    std::vector<float> weight(40, 1);
    weight[7] = odd;
    const Linear linear(GetParam(), {weight.data(), Storage::kFloat32, 2, 20}, nullptr);
    float y[2];
    linear.multiply(rows, {0, 2}, y, 2);
    EXPECT_FALSE(std::isfinite(y[0]));
    EXPECT_NEAR(y[1], 20, 0.2);  // precision of 8 bits
  }
}

TEST_P(Int8LinearTest, ZerosStayZero) {
  const std::vector<float> zeros(64);
  const float bias[] = {0.5F, -2};
  const Linear linear(GetParam(), {zeros.data(), Storage::kFloat32, 2, 8}, bias);
  float y[2];
  linear.multiply(linear.pack_a(zeros.data(), 1, 8), {0, 2}, y, 2);
  EXPECT_EQ(y[0], 0.5F);
  EXPECT_EQ(y[1], -2);
}

}  // namespace
