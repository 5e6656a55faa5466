// Matrix multiplication with every kernel that this processor supports, compared with double
// precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/matmul.h"
#include "supported_kernels.h"

namespace {

using kernels::Format;
using kernels::FormatKernel;
using kernels::Linear;
using kernels::Storage;

double value_of_float16(uint16_t stored) {
  const uint32_t bits = stored;
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<int>(bits & 1023);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) {
    return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  }
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1024 + fraction, exponent - 25);
}

double value_of_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// A stored weight and its values.
struct Weight {
  std::vector<float> floats;
  std::vector<uint16_t> halves;
  std::vector<double> values;

  const void* data() const {
    return floats.empty() ? static_cast<const void*>(halves.data()) : floats.data();
  }
};

Weight random_weight(Storage storage, size_t size, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  Weight weight;
  for (size_t i = 0; i < size; ++i) {
    const float value = uniform(random);
    if (storage == Storage::kFloat32) {
      weight.floats.push_back(value);
      weight.values.push_back(value);
    } else if (storage == Storage::kBFloat16) {
      weight.halves.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
      weight.values.push_back(value_of_bfloat16(weight.halves.back()));
    } else {
      // Both signs, exponents from subnormal to 1, all fractions.
      weight.halves.push_back(static_cast<uint16_t>(random() % 0x3c00 | (random() & 0x8000)));
      weight.values.push_back(value_of_float16(weight.halves.back()));
    }
  }
  return weight;
}

std::vector<float> random_floats(size_t size, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> floats(size);
  for (float& value : floats) value = uniform(random);
  return floats;
}

struct Case {
  int64_t rows, outputs, inputs, first, count;
};

/// Strides of x and y exceed the row length, so that a wrong stride fails.
void expect_product(const FormatKernel& by, Storage storage, const Case& shape) {
  std::mt19937 random(7);
  const auto [rows, outputs, inputs, first, count] = shape;
  const int64_t x_stride = inputs + 3;
  const int64_t y_stride = count + 5;
  const auto x = random_floats(static_cast<size_t>(rows * x_stride), random);
  const auto bias = random_floats(static_cast<size_t>(outputs), random);
  const Weight weight = random_weight(storage, static_cast<size_t>(outputs * inputs), random);
  constexpr float kUntouched = 777;
  std::vector<float> y(static_cast<size_t>(rows * y_stride), kUntouched);
  const Linear linear(by, {weight.data(), storage, outputs, inputs}, bias.data());
  linear.multiply(linear.pack_a(x.data(), rows, x_stride), {first, count}, y.data(), y_stride);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t j = 0; j < y_stride; ++j) {
      const float got = y[static_cast<size_t>(row * y_stride + j)];
      if (j >= count) {
        ASSERT_EQ(got, kUntouched) << "row " << row << ", column " << j;
        continue;
      }
      double sum = bias[static_cast<size_t>(first + j)];
      double magnitude = std::abs(sum);
      for (int64_t k = 0; k < inputs; ++k) {
        const double term = double{x[static_cast<size_t>(row * x_stride + k)]} *
                            weight.values[static_cast<size_t>((first + j) * inputs + k)];
        sum += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(got, sum, 1e-6 * magnitude + 1e-30)
          << by.kernel->name << ", row " << row << ", output " << first + j;
    }
  }
}

constexpr Storage kStorages[] = {Storage::kFloat32, Storage::kFloat16, Storage::kBFloat16};

TEST(Float32Linear, EveryNumberOfRows) {
  for (const FormatKernel& by : supported_kernels(Format::kFloat32)) {
    for (const Storage storage : kStorages) {
      for (int64_t rows = 0; rows <= 40; ++rows) {
        expect_product(by, storage, {rows, 64, 24, 0, 64});
      }
    }
  }
}

TEST(Float32Linear, PartialPanels) {
  for (const FormatKernel& by : supported_kernels(Format::kFloat32)) {
    for (const Storage storage : kStorages) {
      for (const int64_t outputs : {1, 2, 3, 7, 15, 16, 17, 31, 33, 70}) {
        expect_product(by, storage, {5, outputs, 9, 0, outputs});
      }
    }
  }
}

TEST(Float32Linear, RangeOfOutputs) {
  for (const FormatKernel& by : supported_kernels(Format::kFloat32)) {
    for (const Storage storage : kStorages) {
      for (const auto& [first, count] : {std::pair{0, 0}, {0, 36}, {36, 72}, {5, 3}, {20, 50}}) {
        expect_product(by, storage, {7, 108, 36, first, count});
      }
    }
  }
}

TEST(Float32Linear, SeveralBlocksOfRows) {
  for (const FormatKernel& by : supported_kernels(Format::kFloat32)) {
    for (const Storage storage : kStorages) {
      expect_product(by, storage, {211, 40, 1536, 0, 40});
      expect_product(by, storage, {3, 20, 70'000, 0, 20});
    }
  }
}

TEST(Float32Linear, WithoutBias) {
  const std::vector<float> weight{1, 2, 3, 4};
  const std::vector<float> x{10, 1};
  for (const FormatKernel& by : supported_kernels(Format::kFloat32)) {
    const Linear linear(by, {weight.data(), Storage::kFloat32, 2, 2}, nullptr);
    float y[2] = {};
    linear.multiply(linear.pack_a(x.data(), 1, 2), {0, 2}, y, 2);
    EXPECT_EQ(y[0], 12);
    EXPECT_EQ(y[1], 34);
  }
}

/// All 65,536 values, multiplied with 1.
TEST(Float32Linear, WidensEveryStoredValueExactly) {
  constexpr int64_t kValues = 65'536;
  std::vector<uint16_t> weight(kValues);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<uint16_t>(i);
  const float one = 1;
  for (const FormatKernel& by : supported_kernels(Format::kFloat32)) {
    for (const Storage storage : {Storage::kFloat16, Storage::kBFloat16}) {
      const auto value_of = storage == Storage::kFloat16 ? value_of_float16 : value_of_bfloat16;
      const Linear linear(by, {weight.data(), storage, kValues, 1}, nullptr);
      std::vector<float> y(kValues);
      linear.multiply(linear.pack_a(&one, 1, 1), {0, kValues}, y.data(), kValues);
      for (size_t i = 0; i < weight.size(); ++i) {
        const double expected = value_of(static_cast<uint16_t>(i));
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(y[i])) << by.kernel->name << ", bits " << i;
        } else {
          ASSERT_EQ(y[i], expected) << by.kernel->name << ", bits " << i;
        }
      }
    }
  }
}

/// Rows that would share cache sets are copied with another stride; the bits of their results are
/// equal.
TEST(Float32Linear, ConflictingStridesHaveTheSameBits) {
  constexpr int64_t kRows = 9, kInputs = 1024, kOutputs = 40;
  std::mt19937 random(5);
  const std::vector<float> x = random_floats(kRows * kInputs, random);
  const std::vector<float> weight = random_floats(kOutputs * kInputs, random);
  for (const FormatKernel& by : supported_kernels(Format::kFloat32)) {
    const Linear linear(by, {weight.data(), Storage::kFloat32, kOutputs, kInputs}, nullptr);
    std::vector<float> all(kRows * kOutputs), one(kOutputs);
    linear.multiply(linear.pack_a(x.data(), kRows, kInputs), {0, kOutputs}, all.data(), kOutputs);
    for (int64_t row = 0; row < kRows; ++row) {
      linear.multiply(linear.pack_a(x.data() + row * kInputs, 1, kInputs), {0, kOutputs},
                      one.data(), kOutputs);
      EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + row * kOutputs));
    }
  }
}

/// All formats.
TEST(Linear, TheFastestKernelIsTheLastSupportedOne) {
  for (const kernels::FormatDescription& each : kernels::formats()) {
    const auto supported = supported_kernels(each.format);
    EXPECT_EQ(FormatKernel(each.format).kernel, supported.back().kernel) << each.name;
    EXPECT_EQ(kernels::kernel_name(each.format), std::string(supported.back().kernel->name));
    EXPECT_EQ(kernels::is_fast(each.format), supported.size() > 1) << each.name;
  }
}

/// The error for random matrices does not exceed FormatDescription::error.
TEST(Linear, EveryFormatKeepsItsErrorLimit) {
  constexpr int64_t kRows = 20, kInputs = 512, kOutputs = 70;
  std::mt19937 random(3);
  const std::vector<float> x = random_floats(kRows * kInputs, random);
  for (const kernels::FormatDescription& each : kernels::formats()) {
    for (const FormatKernel& by : supported_kernels(each.format)) {
      for (const Storage storage : kStorages) {
        const Weight weight = random_weight(storage, kOutputs * kInputs, random);
        const Linear linear(by, {weight.data(), storage, kOutputs, kInputs}, nullptr);
        std::vector<float> y(kRows * kOutputs);
        linear.multiply(linear.pack_a(x.data(), kRows, kInputs), {0, kOutputs}, y.data(), kOutputs);
        double worst = 0, largest = 0;
        for (int64_t i = 0; i < kRows * kOutputs; ++i) {
          double sum = 0;
          for (int64_t k = 0; k < kInputs; ++k) {
            sum += double{x[static_cast<size_t>(i / kOutputs * kInputs + k)]} *
                   weight.values[static_cast<size_t>(i % kOutputs * kInputs + k)];
          }
          worst = std::max(worst, std::abs(sum - y[static_cast<size_t>(i)]));
          largest = std::max(largest, std::abs(sum));
        }
        EXPECT_LT(worst / largest, each.error) << each.name << ", " << by.kernel->name;
      }
    }
  }
}

}  // namespace
