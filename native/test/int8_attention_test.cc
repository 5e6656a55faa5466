// int8 attention: equal bits with every kernel, and its error.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "attention/int8_kernel.h"
#include "attention_example.h"

namespace attention_test {
namespace {

std::vector<Way> int8_ways() {
  std::vector<Way> ways;
  for (const kernels::FormatKernel& by : supported_attention_kernels(kernels::Format::kInt8)) {
    ways.push_back(make_way(by, *elementwise_beside(by.kernel->nr)));
  }
  return ways;
}

/// Root mean square of the differences from exact results, relative to that of the results.
double relative_error(const Example& example, const Shape& shape, const Way& way) {
  std::vector<float> result = example.run(way);
  const AttentionHead head = example.head(result.data());
  double squares = 0, differences = 0;
  Way exact = way;
  exact.number = as_it_is;
  for (int64_t query = 0; query < shape.queries; ++query) {
    const auto wanted = expected(head, example.vectors(), query, exact).result;
    for (int64_t i = 0; i < shape.head_size; ++i) {
      const double value = wanted[static_cast<size_t>(i)];
      squares += value * value;
      differences +=
          std::pow(result[static_cast<size_t>(query * head.result_stride + i)] - value, 2);
    }
  }
  return std::sqrt(differences / squares);
}

const Shape kShapes[] = {
    {.queries = 1, .tokens = 1, .head_size = 32},
    {.queries = 64, .tokens = 64, .head_size = 64},
    {.queries = 65, .tokens = 65, .head_size = 20},
    {.queries = 474, .tokens = 474, .head_size = 32},
    {.queries = 474, .tokens = 474, .head_size = 64},
    {.queries = 200, .tokens = 200, .head_size = 64, .window = 64},
    {.queries = 200, .tokens = 200, .head_size = 64, .window = 3, .biased = true},
    {.queries = 200, .tokens = 200, .head_size = 64, .window = 64, .sink = 1},
    {.queries = 130, .tokens = 130, .head_size = 64, .keys_by_offset = true},
    {.queries = 130, .tokens = 130, .head_size = 64, .queries_by_offset = true},
    {.queries = 130,
     .tokens = 130,
     .head_size = 64,
     .keys_by_offset = true,
     .queries_by_offset = true},
};

TEST(Int8AttentionTest, EqualBitsWithEveryKernel) {
  const std::vector<Way> ways = int8_ways();
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(testing::Message() << shape.tokens << " × " << shape.head_size);
    const Example example(shape);
    const std::vector<float> first = example.run(ways.front());
    for (const Way& way : ways) {
      const std::vector<float> result = example.run(way);
      EXPECT_EQ(std::memcmp(first.data(), result.data(), first.size() * sizeof(float)), 0)
          << way.name;
    }
  }
}

TEST(Int8AttentionTest, ErrorOfRandomHeads) {
  for (const Way& way : int8_ways()) {
    for (const Shape& shape : kShapes) {
      SCOPED_TRACE(testing::Message()
                   << way.name << ' ' << shape.tokens << " × " << shape.head_size);
      EXPECT_LT(relative_error(Example(shape), shape, way), 0.04);
    }
  }
}

/// Components that are large in every key do not reduce the precision of the others.
TEST(Int8AttentionTest, KeysWithALargeMean) {
  constexpr float kLarge = 30;
  constexpr float kNoSink = -std::numeric_limits<float>::infinity();
  constexpr std::pair<bool, float> kCases[] = {
      {false, kNoSink}, {true, kNoSink}, {false, 2.0F}, {true, 2.0F}};
  for (const auto& [has_positions, sink] : kCases) {
    const Shape shape{.queries = 150,
                      .tokens = 150,
                      .head_size = 32,
                      .keys_by_offset = has_positions,
                      .queries_by_offset = has_positions,
                      .sink = sink};
    Example example(shape);
    const AttentionHead head = example.head(nullptr);
    for (int64_t token = 0; token < shape.tokens; ++token) {
      example.states[static_cast<size_t>(token * head.key_value_stride + shape.head_size + 3)] +=
          kLarge;
    }
    for (const Way& way : int8_ways()) {
      EXPECT_LT(relative_error(example, shape, way), 0.05) << way.name;
    }
  }
}

/// A token with nearly the whole weight, whose value is 0: the result comes from small weights,
/// which one scale for all tokens would round to 0.
TEST(Int8AttentionTest, SmallWeightsBesideALargeOne) {
  const Shape shape{.queries = 300, .tokens = 300, .head_size = 32, .biased = true};
  Example example(shape);
  const AttentionHead head = example.head(nullptr);
  for (int64_t i = 0; i < shape.head_size; ++i) {
    example.states[static_cast<size_t>(2 * shape.head_size + 1 + i)] = 0;
  }
  for (int64_t query = 0; query < shape.queries; ++query) {
    float* const bias = example.bias.data() + query * head.bias_stride;
    std::fill(bias, bias + shape.tokens, 0.0F);
    bias[0] = 16;
  }
  for (const Way& way : int8_ways()) {
    // The block of the large weight, 64 of 300 tokens, is lost.
    EXPECT_LT(relative_error(example, shape, way), 0.6) << way.name;
  }
}

}  // namespace
}  // namespace attention_test
