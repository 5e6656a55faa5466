// Attention with every kernel that this processor runs, against sums in double precision.
#include "gemm/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "supported_kernels.h"

namespace {

using gemm::AttentionHead;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
constexpr float kUntouched = 777;

struct Shape {
  int64_t queries, tokens, head_size;
  int64_t reach = kUnlimited;
  bool biased = false;
};

/// Inputs of one head between other columns, as they lie in a tensor of all heads.
class Example {
 public:
  explicit Example(const Shape& shape) : shape_(shape), stride_(3 * shape.head_size + 5) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& floats, int64_t size) {
      floats.resize(static_cast<size_t>(size));
      for (float& value : floats) value = normal(random);
    };
    fill(states, shape.tokens * stride_);
    if (shape.biased) fill(bias, shape.queries * (shape.tokens + 1));
  }

  AttentionHead head(float* result) const {
    return {.query = states.data(),
            .queries = shape_.queries,
            .query_stride = stride_,
            .key = states.data() + shape_.head_size,
            .value = states.data() + 2 * shape_.head_size + 1,
            .tokens = shape_.tokens,
            .key_value_stride = stride_,
            .head_size = shape_.head_size,
            .scale = 0.3F,
            .reach = shape_.reach,
            .bias = shape_.biased ? bias.data() : nullptr,
            .bias_stride = shape_.tokens + 1,
            .result = result,
            .result_stride = shape_.head_size + 2};
  }

  std::vector<float> run(const gemm::Kernel& kernel) const {
    std::vector<float> result(static_cast<size_t>(shape_.queries * (shape_.head_size + 2)),
                              kUntouched);
    std::vector<float> scratch(
        static_cast<size_t>(gemm::attention_scratch(kernel, shape_.tokens, shape_.head_size)),
        std::nanf(""));
    gemm::attend(kernel, head(result.data()), scratch.data());
    return result;
  }

  std::vector<float> states, bias;

 private:
  Shape shape_;
  int64_t stride_;
};

/// The result for one query.
std::vector<double> expected(const AttentionHead& head, int64_t query) {
  std::vector<double> weights(static_cast<size_t>(head.tokens));
  double sum = 0;
  for (int64_t token = 0; token < head.tokens; ++token) {
    if (std::abs(query - token) > head.reach) continue;
    double score = 0;
    for (int64_t i = 0; i < head.head_size; ++i) {
      score += static_cast<double>(head.query[query * head.query_stride + i]) *
               head.key[token * head.key_value_stride + i];
    }
    score *= head.scale;
    if (head.bias != nullptr) score += head.bias[query * head.bias_stride + token];
    sum += weights[static_cast<size_t>(token)] = std::exp(score);
  }
  std::vector<double> result(static_cast<size_t>(head.head_size));
  for (int64_t token = 0; token < head.tokens; ++token) {
    for (int64_t i = 0; i < head.head_size; ++i) {
      result[static_cast<size_t>(i)] +=
          weights[static_cast<size_t>(token)] / sum * head.value[token * head.key_value_stride + i];
    }
  }
  return result;
}

void expect_attention(const Shape& shape) {
  const Example example(shape);
  for (const gemm::Kernel* kernel : supported_kernels()) {
    SCOPED_TRACE(kernel->name);
    std::vector<float> result = example.run(*kernel);
    const AttentionHead head = example.head(result.data());
    for (int64_t query = 0; query < shape.queries; ++query) {
      const auto wanted = expected(head, query);
      const float* const row = result.data() + query * head.result_stride;
      for (int64_t i = 0; i < shape.head_size; ++i) {
        ASSERT_NEAR(row[i], wanted[static_cast<size_t>(i)], 5e-6) << query << ", " << i;
      }
      ASSERT_EQ(row[shape.head_size], kUntouched);
    }
  }
}

TEST(AttentionTest, EveryNumberOfTokens) {
  for (int64_t tokens = 1; tokens <= 70; ++tokens) {
    expect_attention({.queries = tokens, .tokens = tokens, .head_size = 32});
  }
  expect_attention({.queries = 512, .tokens = 512, .head_size = 64});
}

TEST(AttentionTest, EverySizeOfHead) {
  for (int64_t size = 1; size <= 70; ++size) {
    expect_attention({.queries = 9, .tokens = 9, .head_size = size});
  }
}

TEST(AttentionTest, FirstTokenAlone) {
  for (const int64_t tokens : {1, 2, 16, 17, 100}) {
    expect_attention({.queries = 1, .tokens = tokens, .head_size = 32});
    expect_attention({.queries = 1, .tokens = tokens, .head_size = 32, .reach = 3});
  }
}

TEST(AttentionTest, NearTokensOnly) {
  for (const int64_t reach : {0, 1, 7, 16, 64, 99, 100, 101}) {
    expect_attention({.queries = 100, .tokens = 100, .head_size = 24, .reach = reach});
    expect_attention(
        {.queries = 100, .tokens = 100, .head_size = 24, .reach = reach, .biased = true});
  }
}

TEST(AttentionTest, AddedToTheScores) {
  for (const int64_t tokens : {1, 15, 16, 33}) {
    expect_attention({.queries = tokens, .tokens = tokens, .head_size = 32, .biased = true});
  }
}

/// Scores far apart: the highest takes all, nothing overflows.
TEST(AttentionTest, LargeScores) {
  Example example({.queries = 20, .tokens = 20, .head_size = 16, .biased = true});
  for (float& value : example.bias) value *= 1e4F;
  for (const gemm::Kernel* kernel : supported_kernels()) {
    std::vector<float> result = example.run(*kernel);
    const AttentionHead head = example.head(result.data());
    for (int64_t query = 0; query < head.queries; ++query) {
      const float* const bias = example.bias.data() + query * head.bias_stride;
      const int64_t highest = std::max_element(bias, bias + head.tokens) - bias;
      for (int64_t i = 0; i < head.head_size; ++i) {
        ASSERT_NEAR(result[static_cast<size_t>(query * head.result_stride + i)],
                    head.value[highest * head.key_value_stride + i], 1e-6);
      }
    }
  }
}

/// What is no number is not hidden, and stays in the queries that see it.
TEST(AttentionTest, NotANumber) {
  for (const float poison : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Example example({.queries = 12, .tokens = 12, .head_size = 16, .biased = true});
    const AttentionHead head = example.head(nullptr);
    example.bias[static_cast<size_t>(5 * head.bias_stride + 7)] = poison;
    for (const gemm::Kernel* kernel : supported_kernels()) {
      const std::vector<float> result = example.run(*kernel);
      for (int64_t query = 0; query < head.queries; ++query) {
        const float first = result[static_cast<size_t>(query * head.result_stride)];
        EXPECT_EQ(std::isnan(first), query == 5) << kernel->name << ", " << query;
      }
    }
  }
}

}  // namespace
