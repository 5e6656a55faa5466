// Layer normalization, GELU, softmax numerators and rotary embedding with every kernel that this
// processor supports, compared with double precision.
#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "random_floats.h"
#include "supported_kernels.h"

namespace {

constexpr float kEpsilon = 1e-5F;

struct Example {
  Example(int64_t row_count, int64_t row_size, float offset = 0) : rows(row_count), size(row_size) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& floats, int64_t count) {
      floats.resize(static_cast<size_t>(count));
      for (float& value : floats) value = normal(random);
    };
    fill(x, rows * size);
    fill(residual, rows * size);
    fill(weight, size);
    fill(bias, size);
    for (float& value : x) value += offset;
  }

  int64_t rows, size;
  std::vector<float> x, residual, weight, bias;
};

void expect_normalized(const Example& example, bool with_residual, bool with_bias, bool in_place) {
  for (const kernels::Elementwise* kernel : supported_elementwise()) {
    std::vector<float> y = example.x;
    kernel->normalize({.x = in_place ? y.data() : example.x.data(),
                       .residual = with_residual ? example.residual.data() : nullptr,
                       .y = y.data(),
                       .rows = example.rows,
                       .size = example.size,
                       .weight = example.weight.data(),
                       .bias = with_bias ? example.bias.data() : nullptr,
                       .epsilon = kEpsilon});
    for (int64_t row = 0; row < example.rows; ++row) {
      const auto value = [&](int64_t i) {
        const auto at = static_cast<size_t>(row * example.size + i);
        return double{example.x[at]} + (with_residual ? double{example.residual[at]} : 0);
      };
      double mean = 0, variance = 0;
      for (int64_t i = 0; i < example.size; ++i)
        mean += value(i) / static_cast<double>(example.size);
      for (int64_t i = 0; i < example.size; ++i) {
        variance += (value(i) - mean) * (value(i) - mean) / static_cast<double>(example.size);
      }
      for (int64_t i = 0; i < example.size; ++i) {
        const auto at = static_cast<size_t>(i);
        const double normal = (value(i) - mean) / std::sqrt(variance + double{kEpsilon});
        const double wanted =
            normal * example.weight[at] + (with_bias ? double{example.bias[at]} : 0);
        ASSERT_NEAR(y[static_cast<size_t>(row * example.size + i)], wanted, 1e-5)
            << kernel->name << ", " << row << ", " << i;
      }
    }
  }
}

TEST(LayerNormTest, EverySize) {
  for (int64_t size = 1; size <= 70; ++size) {
    expect_normalized(Example(3, size), true, true, true);
    expect_normalized(Example(3, size), false, true, false);
  }
}

TEST(LayerNormTest, WithAndWithoutEachPart) {
  const Example example(5, 384);
  for (const bool residual : {false, true}) {
    for (const bool bias : {false, true}) {
      for (const bool in_place : {false, true}) {
        expect_normalized(example, residual, bias, in_place);
      }
    }
  }
}

TEST(LayerNormTest, NoRows) { expect_normalized(Example(0, 8), true, true, true); }

/// The mean is subtracted before squaring, so values far from 0 lose no precision.
TEST(LayerNormTest, FarFromZero) { expect_normalized(Example(2, 384, 16), false, true, false); }

/// NaN is propagated within its row only.
TEST(LayerNormTest, NotANumber) {
  for (const float poison : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Example example(2, 40);
    example.x[7] = poison;
    for (const kernels::Elementwise* kernel : supported_elementwise()) {
      std::vector<float> y(example.x.size());
      kernel->normalize({.x = example.x.data(),
                         .residual = nullptr,
                         .y = y.data(),
                         .rows = 2,
                         .size = 40,
                         .weight = example.weight.data(),
                         .bias = nullptr,
                         .epsilon = kEpsilon});
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i < 40) << kernel->name;
    }
  }
}

/// x Φ(x), up to the range where float32 rounds it to x or 0.
TEST(GeluTest, MatchesTheErrorFunction) {
  constexpr int64_t kValues = 20'000;
  std::vector<float> x(kValues);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<float>(i) - 10'000) / 1'000;
  for (const kernels::Elementwise* kernel : supported_elementwise()) {
    std::vector<float> y = x;
    kernel->gelu(y.data(), kValues / 32, 32, y.data(), 32);
    for (size_t i = 0; i < x.size(); ++i) {
      const double expected = x[i] / 2.0 * (1 + std::erf(x[i] / std::sqrt(2.0)));
      ASSERT_NEAR(y[i], expected, 3e-7 * std::max(1.0F, std::abs(x[i]))) << kernel->name << x[i];
    }
  }
}

struct ActivationCase {
  const char* name;
  kernels::EpilogueFunction kernels::Elementwise::* function;
  double (*exact)(double x);
};

double exact_silu(double x) { return x / (1 + std::exp(-x)); }
double exact_gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

constexpr ActivationCase kSigmoidActivations[] = {
    {"silu", &kernels::Elementwise::silu, exact_silu},
    {"gelu_tanh", &kernels::Elementwise::gelu_tanh, exact_gelu_tanh}};

TEST(ActivationTest, MatchesTheFormula) {
  constexpr int64_t kValues = 20'000;
  std::vector<float> x(kValues);
  for (size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<float>(i) - 10'000) / 90;
  for (const auto& [name, function, exact] : kSigmoidActivations) {
    for (const kernels::Elementwise* kernel : supported_elementwise()) {
      std::vector<float> y = x;
      (kernel->*function)(y.data(), kValues / 32, 32, y.data(), 32);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(y[i], exact(x[i]), 4e-7 * std::max(1.0F, std::abs(x[i])))
            << name << ", " << kernel->name << ", " << x[i];
      }
    }
  }
}

TEST(ActivationTest, PropagatesNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [name, function, exact] : kSigmoidActivations) {
    for (const kernels::Elementwise* kernel : supported_elementwise()) {
      SCOPED_TRACE(std::string(name) + kernel->name);
      float y[16] = {infinity, std::nanf(""), 1e30F, -1e38F};
      (kernel->*function)(y, 1, 16, y, 16);
      EXPECT_EQ(y[0], infinity);
      EXPECT_TRUE(std::isnan(y[1]));
      EXPECT_EQ(y[2], 1e30F);
      EXPECT_EQ(y[3], 0);
    }
  }
}

/// Vectors of all sizes as columns of a larger tensor; the columns between them stay as they are.
TEST(RmsNormTest, NormalizesEachVector) {
  constexpr int64_t kRows = 3, kGroups = 2;
  for (const kernels::Elementwise* kernel : supported_elementwise()) {
    for (int64_t size = 1; size <= 40; ++size) {
      const int64_t stride = kGroups * size + 3;
      const auto x = random_floats(static_cast<size_t>(kRows * stride), 1);
      const auto weight = random_floats(static_cast<size_t>(size), 2);
      for (const bool adds : {false, true}) {
        std::vector<float> y(x.size(), 7);
        kernel->normalize_rms({.x = x.data(),
                               .x_stride = stride,
                               .y = y.data(),
                               .y_stride = stride,
                               .rows = kRows,
                               .groups = kGroups,
                               .size = size,
                               .weight = weight.data(),
                               .epsilon = 1e-5F,
                               .adds = adds});
        for (int64_t at = 0; at < kRows * stride; ++at) {
          const int64_t column = at % stride, first = at - column % size;
          double wanted = 7;
          if (column < kGroups * size) {
            double square = 0;
            for (int64_t i = 0; i < size; ++i) {
              const double value = x[static_cast<size_t>(first + i)];
              square += value * value;
            }
            wanted = x[static_cast<size_t>(at)] /
                         std::sqrt(square / static_cast<double>(size) + 1e-5) *
                         weight[static_cast<size_t>(column % size)] +
                     (adds ? 7 : 0);
          }
          ASSERT_NEAR(y[static_cast<size_t>(at)], wanted, 1e-5) << kernel->name << ", " << size;
        }
      }
    }
  }
}

TEST(GeluTest, PropagatesNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const kernels::Elementwise* kernel : supported_elementwise()) {
    float y[16] = {infinity, std::nanf(""), 1e30F, -1e30F};
    kernel->gelu(y, 1, 16, y, 16);
    EXPECT_EQ(y[0], infinity);
    EXPECT_TRUE(std::isnan(y[1]));
    EXPECT_EQ(y[2], 1e30F);
    EXPECT_EQ(y[3], 0);
  }
}

/// All exponents of float32, with the row maximum at the end. The weights of masked tokens are
/// almost 0.
TEST(ExponentialsTest, MatchTheExponentialFunction) {
  constexpr int64_t kRows = 3, kCount = 4'096;
  for (const kernels::Elementwise* kernel : supported_elementwise()) {
    std::vector<float> scores(kRows * kCount), powers;
    for (size_t i = 0; i < scores.size(); ++i) {
      scores[i] = static_cast<float>(i) * 87 / (kRows * kCount) - 7;
    }
    scores[5] = -std::numeric_limits<float>::infinity();
    powers = scores;
    float sums[kRows];
    kernel->exponentials(powers.data(), kRows, kCount, kCount, nullptr, sums);
    for (int64_t row = 0; row < kRows; ++row) {
      const auto end = static_cast<size_t>((row + 1) * kCount);
      double sum = 0;
      for (size_t i = end - kCount; i < end; ++i) {
        const double distance = double{scores[end - 1]} - scores[i], power = std::exp(-distance);
        ASSERT_NEAR(powers[i], power, (2.5e-7 + std::min(distance, 99.0) * 1e-7) * power + 0x1p-126)
            << kernel->name << ", " << distance;
        sum += power;
      }
      EXPECT_EQ(powers[end - 1], 1) << kernel->name;
      EXPECT_NEAR(sums[row], sum, 1e-6 * sum) << kernel->name;
    }
  }
}

TEST(ExponentialsTest, PropagateNaN) {
  for (const kernels::Elementwise* kernel : supported_elementwise()) {
    for (const char* payload : {"", "0x3fffff"}) {
      std::vector<float> scores(64, -1);
      scores[33] = std::nanf(payload);
      float sums[1];
      kernel->exponentials(scores.data(), 1, 64, 64, nullptr, sums);
      EXPECT_TRUE(std::isnan(scores[33])) << kernel->name;
      EXPECT_TRUE(std::isnan(sums[0])) << kernel->name;
    }
  }
}

/// Heads of all sizes as columns of a larger tensor.
TEST(RotationTest, RotatesEachPairByItsAngle) {
  constexpr int64_t kRows = 3, kHeads = 2;
  for (const kernels::Elementwise* kernel : supported_elementwise()) {
    for (int64_t half = 1; half <= 40; ++half) {
      const int64_t stride = 2 * kHeads * half + 5;
      std::vector<float> states(static_cast<size_t>(kRows * stride)), cos, sin;
      for (size_t i = 0; i < states.size(); ++i) states[i] = static_cast<float>(i % 23) - 11;
      for (int64_t i = 0; i < kRows * half; ++i) {
        cos.push_back(std::cos(static_cast<float>(i)));
        sin.push_back(std::sin(static_cast<float>(i)));
      }
      std::vector<float> turned = states;
      kernel->rotate({.states = turned.data(),
                      .stride = stride,
                      .rows = kRows,
                      .heads = kHeads,
                      .half = half,
                      .cos = cos.data(),
                      .sin = sin.data()});
      for (int64_t row = 0; row < kRows; ++row) {
        for (int64_t column = 0; column < stride; ++column) {
          const int64_t i = column % half, in_head = column % (2 * half);
          const auto at = static_cast<size_t>(row * stride + column);
          const double angle = static_cast<double>(row * half + i);
          const auto place = static_cast<size_t>(row * stride + column - in_head + i);
          const bool is_in_head = column < 2 * kHeads * half;
          const double x = is_in_head ? states[place] : 0;
          const double y = is_in_head ? states[place + static_cast<size_t>(half)] : 0;
          const double wanted = !is_in_head      ? states[at]
                                : in_head < half ? x * std::cos(angle) - y * std::sin(angle)
                                                 : y * std::cos(angle) + x * std::sin(angle);
          ASSERT_NEAR(turned[at], wanted, 2e-5) << kernel->name << ", " << half << ", " << column;
        }
      }
    }
  }
}

/// Whole vectors and the rest have the same bits: a result does not depend on its position.
TEST(Activation, IsThatOfEachValueAlone) {
  constexpr size_t kCount = 53;
  const auto x = random_floats(kCount, 7);
  for (const auto activation :
       {kernels::Epilogue::kGelu, kernels::Epilogue::kGeluTanh, kernels::Epilogue::kSilu}) {
    std::vector<float> all = x;
    kernels::activate(activation, all.data(), kCount);
    for (size_t i = 0; i < kCount; ++i) {
      float alone = x[i];
      kernels::activate(activation, &alone, 1);
      ASSERT_EQ(all[i], alone) << i;
      if (activation == kernels::Epilogue::kSilu) {
        ASSERT_NEAR(alone, x[i] / (1 + std::exp(-double{x[i]})), 1e-6) << i;
      } else {
        ASSERT_NEAR(alone, x[i] / 2 * (1 + std::erf(x[i] / std::numbers::sqrt2)), 1e-3) << i;
      }
    }
  }
}

}  // namespace
