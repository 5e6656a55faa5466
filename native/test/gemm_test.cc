// The matrix products of every kernel that this processor runs, against sums in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gemm/packed_linear.h"
#include "kernel.h"
#include "supported_kernels.h"

namespace {

using gemm::Kernel;
using gemm::PackedLinear;
using gemm::Storage;

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

/// A weight as it is stored, and its values.
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
      // Signs, exponents from subnormal to 1, all fractions.
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

/// With x and y wider than their rows, so that a wrong stride shows.
void expect_product(const Kernel& kernel, Storage storage, const Case& shape) {
  std::mt19937 random(7);
  const auto [rows, outputs, inputs, first, count] = shape;
  const int64_t x_stride = inputs + 3;
  const int64_t y_stride = count + 5;
  const auto x = random_floats(static_cast<size_t>(rows * x_stride), random);
  const auto bias = random_floats(static_cast<size_t>(outputs), random);
  const Weight weight = random_weight(storage, static_cast<size_t>(outputs * inputs), random);
  constexpr float kUntouched = 777;
  std::vector<float> y(static_cast<size_t>(rows * y_stride), kUntouched);
  const PackedLinear linear(kernel, weight.data(), storage, bias.data(), outputs, inputs);
  linear.multiply(
      {.x = x.data(), .rows = rows, .x_stride = x_stride, .y = y.data(), .y_stride = y_stride},
      first, count);
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
          << kernel.name << ", row " << row << ", output " << first + j;
    }
  }
}

constexpr Storage kStorages[] = {Storage::kFloat32, Storage::kFloat16, Storage::kBFloat16};

TEST(PackedLinear, EveryNumberOfRows) {
  for (const Kernel* kernel : supported_kernels()) {
    for (const Storage storage : kStorages) {
      for (int64_t rows = 0; rows <= 40; ++rows) {
        expect_product(*kernel, storage, {rows, 64, 24, 0, 64});
      }
    }
  }
}

TEST(PackedLinear, OutputsThatFillNoPanel) {
  for (const Kernel* kernel : supported_kernels()) {
    for (const Storage storage : kStorages) {
      for (const int64_t outputs : {1, 2, 3, 7, 15, 16, 17, 31, 33, 70}) {
        expect_product(*kernel, storage, {5, outputs, 9, 0, outputs});
      }
    }
  }
}

TEST(PackedLinear, SomeOfTheOutputs) {
  for (const Kernel* kernel : supported_kernels()) {
    for (const Storage storage : kStorages) {
      for (const auto& [first, count] : {std::pair{0, 0}, {0, 36}, {36, 72}, {5, 3}, {20, 50}}) {
        expect_product(*kernel, storage, {7, 108, 36, first, count});
      }
    }
  }
}

TEST(PackedLinear, MoreRowsThanOneBlockHolds) {
  for (const Kernel* kernel : supported_kernels()) {
    for (const Storage storage : kStorages) {
      expect_product(*kernel, storage, {211, 40, 1536, 0, 40});
      expect_product(*kernel, storage, {3, 20, 70'000, 0, 20});
    }
  }
}

/// A tile adds up each of its rows in the same order, however many they are: so no answer depends
/// on the texts that it shared a batch with, nor on who helped to compute it.
TEST(PackedLinear, ARowHasTheSameBitsInAnyCompany) {
  constexpr int64_t kRows = 30, kOutputs = 70, kInputs = 129;
  std::mt19937 random(31);
  const std::vector<float> x = random_floats(kRows * kInputs, random);
  const std::vector<float> bias = random_floats(kOutputs, random);
  for (const Kernel* kernel : supported_kernels()) {
    for (const Storage storage : kStorages) {
      const Weight weight = random_weight(storage, kOutputs * kInputs, random);
      const PackedLinear linear(*kernel, weight.data(), storage, bias.data(), kOutputs, kInputs);
      const auto multiply = [&](int64_t row, int64_t rows, int64_t first, int64_t count) {
        std::vector<float> y(static_cast<size_t>(rows * count));
        linear.multiply({.x = x.data() + row * kInputs,
                         .rows = rows,
                         .x_stride = kInputs,
                         .y = y.data(),
                         .y_stride = count,
                         .activation = gemm::Activation::kGelu},
                        first, count);
        return y;
      };
      for (int64_t row = 0; row < kRows; ++row) {
        const std::vector<float> alone = multiply(row, 1, 0, kOutputs);
        for (int64_t rows = 1; row + rows <= kRows; ++rows) {
          const std::vector<float> together = multiply(row, rows, 0, kOutputs);
          ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin()))
              << kernel->name << ": row " << row << " of " << rows;
        }
        const int64_t share = linear.panel_width();
        for (int64_t first = 0; first + share <= kOutputs; first += share) {
          const std::vector<float> part = multiply(row, 1, first, share);
          ASSERT_TRUE(std::equal(part.begin(), part.end(), alone.begin() + first))
              << kernel->name << ": row " << row << ", output " << first;
        }
      }
    }
  }
}

TEST(PackedLinear, NoBiasIsZero) {
  const std::vector<float> weight{1, 2, 3, 4};
  const std::vector<float> x{10, 1};
  for (const Kernel* kernel : supported_kernels()) {
    const PackedLinear linear(*kernel, weight.data(), Storage::kFloat32, nullptr, 2, 2);
    float y[2] = {};
    linear.multiply({.x = x.data(), .rows = 1, .x_stride = 2, .y = y, .y_stride = 2}, 0, 2);
    EXPECT_EQ(y[0], 12);
    EXPECT_EQ(y[1], 34);
  }
}

/// Every one of the 65,536 values, through a product with 1.
TEST(PackedLinear, WidensEveryStoredValueExactly) {
  constexpr int64_t kValues = 65'536;
  std::vector<uint16_t> weight(kValues);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<uint16_t>(i);
  const float one = 1;
  for (const Kernel* kernel : supported_kernels()) {
    for (const Storage storage : {Storage::kFloat16, Storage::kBFloat16}) {
      const auto value_of = storage == Storage::kFloat16 ? value_of_float16 : value_of_bfloat16;
      const PackedLinear linear(*kernel, weight.data(), storage, nullptr, kValues, 1);
      std::vector<float> y(kValues);
      linear.multiply({.x = &one, .rows = 1, .x_stride = 1, .y = y.data(), .y_stride = kValues}, 0,
                      kValues);
      for (size_t i = 0; i < weight.size(); ++i) {
        const double expected = value_of(static_cast<uint16_t>(i));
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(y[i])) << kernel->name << ", bits " << i;
        } else {
          ASSERT_EQ(y[i], expected) << kernel->name << ", bits " << i;
        }
      }
    }
  }
}

/// x Φ(x), over a range that ends where it is x or 0 in float32.
TEST(PackedLinear, GeluIsThatOfTheErrorFunction) {
  constexpr int64_t kValues = 20'001;
  std::vector<float> x(kValues);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<float>(i) - 10'000) / 1'000;
  const float one = 1;
  for (const Kernel* kernel : supported_kernels()) {
    const PackedLinear linear(*kernel, &one, Storage::kFloat32, nullptr, 1, 1);
    std::vector<float> y(kValues);
    linear.multiply({.x = x.data(),
                     .rows = kValues,
                     .x_stride = 1,
                     .y = y.data(),
                     .y_stride = 1,
                     .activation = gemm::Activation::kGelu},
                    0, 1);
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = x[i] / 2.0 * (1 + std::erf(x[i] / std::sqrt(2.0)));
      ASSERT_NEAR(y[i], expected, 3e-7 * std::max(1.0F, std::abs(x[i]))) << kernel->name << x[i];
    }
  }
}

TEST(PackedLinear, GeluOfWhatIsNoNumber) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float x[] = {infinity, std::nanf(""), 1e30F, -1e30F};
  const float one = 1;
  for (const Kernel* kernel : supported_kernels()) {
    const PackedLinear linear(*kernel, &one, Storage::kFloat32, nullptr, 1, 1);
    float y[4];
    linear.multiply({.x = x,
                     .rows = 4,
                     .x_stride = 1,
                     .y = y,
                     .y_stride = 1,
                     .activation = gemm::Activation::kGelu},
                    0, 1);
    EXPECT_EQ(y[0], infinity);
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_EQ(y[2], 1e30F);
    EXPECT_EQ(y[3], 0);
  }
}

TEST(PackedLinear, TheBestKernelIsOneThatRuns) {
  EXPECT_EQ(std::string(gemm::best_kernel().name), supported_kernels().back()->name);
  EXPECT_EQ(PackedLinear::kernel_name(), gemm::best_kernel().name);
}

}  // namespace
