// Attention in every format, with every kernel that this processor supports, compared with double
// precision on the same rounded operands.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "attention/head_attention.h"
#include "kernels/attention.h"
#include "kernels/memory.h"
#include "nearest_bfloat16.h"
#include "supported_kernels.h"

namespace attention_test {

using kernels::AttentionHead;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
constexpr float kUntouched = 777;
constexpr float kScale = 0.3F;
/// Number of guard floats before and after the scratch memory: whole cache lines, more than the
/// scores of a query.
constexpr size_t kMargin = 1024;

struct Shape {
  int64_t queries, tokens, head_size;
  int64_t window = kUnlimited;
  bool biased = false;
  bool keys_by_offset = false, queries_by_offset = false;
  bool is_causal = false;
  float distance_slope = 0;
  int64_t first_query = 0;
  float sink = -std::numeric_limits<float>::infinity();
};

/// Number of offsets that share a vector beyond a distance, like logarithmic buckets.
constexpr int64_t kNear = 20, kShared = 3;

/// Table rows for up to 600 tokens, from the lowest offset on.
inline std::vector<int64_t> table_rows() {
  constexpr int64_t kMaxTokens = 600;
  std::vector<int64_t> rows;
  for (int64_t offset = 1 - kMaxTokens; offset < kMaxTokens; ++offset) {
    const int64_t distance = std::abs(offset);
    const int64_t bucket = distance < kNear ? distance : kNear + (distance - kNear) / kShared;
    rows.push_back(offset < 0 ? -bucket : bucket);
  }
  return rows;
}

inline float as_it_is(float value) { return value; }

/// A format with given kernels.
struct Way {
  std::string name;
  std::function<int64_t(const AttentionHead&)> scratch;
  std::function<void(const AttentionHead&, float*)> attend;
  std::function<kernels::HeadPositions(const kernels::PositionVectors&)> pack;
  float (*number)(float) = as_it_is;  ///< rounding of an operand
  double tolerance = 5e-6;
  double weight_tolerance = 0;  ///< for a weight that is rounded in the other direction
};

inline const kernels::Elementwise* elementwise_beside(int64_t nr) {
  for (const kernels::Elementwise* each : supported_elementwise()) {
    if (int64_t{2} * each->lanes == nr) return each;
  }
  return nullptr;
}

inline Way make_way(const kernels::FormatKernel& by, const kernels::Elementwise& elementwise) {
  const kernels::HeadAttention attention(elementwise, by);
  Way way{
      .name = std::string(by.format->name) + " " + by.kernel->name,
      .scratch = [attention](const auto& head) { return attention.scratch(head); },
      .attend = [attention](const auto& head, float* scratch) { attention.attend(head, scratch); },
      .pack = [attention](
                  const auto& vectors) { return kernels::HeadPositions(attention.pack(vectors)); }};
  if (by.format->format == kernels::Format::kBFloat16) {
    way.number = nearest_bfloat16;
    way.weight_tolerance = 0x1p-7;
  }
  // The errors of integers are tested in int8_attention_test.cc; here all sizes are.
  if (by.format->is_integer) way.tolerance = 0.5;
  return way;
}

inline std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (const kernels::FormatDescription& each : kernels::formats()) {
    for (const kernels::FormatKernel& by : supported_attention_kernels(each.format)) {
      const auto* const elementwise = elementwise_beside(by.kernel->nr);
      if (elementwise != nullptr) ways.push_back(make_way(by, *elementwise));
    }
  }
  return ways;
}

class AttentionTest : public testing::Test {
 protected:
  const std::vector<Way> ways_ = all_ways();
};

/// Inputs of one head as columns of a tensor of all heads.
class Example {
 public:
  explicit Example(const Shape& shape) : shape_(shape), stride_(3 * shape.head_size + 5) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& floats, int64_t size) {
      floats.resize(static_cast<size_t>(size));
      for (float& value : floats) value = normal(random);
    };
    fill(states, std::max(shape.queries, shape.tokens) * stride_);
    if (shape.biased) fill(bias, shape.queries * (shape.tokens + 1));
    const auto rows = static_cast<int64_t>(offsets_.table_rows().size());
    if (shape.keys_by_offset) fill(keys_, rows * (shape.head_size + 1));
    if (shape.queries_by_offset) fill(queries_, rows * (shape.head_size + 1));
  }

  kernels::PositionVectors vectors() const {
    return {.index = &offsets_,
            .keys = keys_.empty() ? nullptr : keys_.data(),
            .queries = queries_.empty() ? nullptr : queries_.data(),
            .stride = shape_.head_size + 1,
            .head_size = shape_.head_size,
            .scale = kScale};
  }

  AttentionHead head(float* result, const kernels::HeadPositions* positions = nullptr) const {
    return {.query = states.data(),
            .queries = shape_.queries,
            .query_stride = stride_,
            .key = states.data() + shape_.head_size,
            .value = states.data() + 2 * shape_.head_size + 1,
            .tokens = shape_.tokens,
            .key_value_stride = stride_,
            .head_size = shape_.head_size,
            .scale = kScale,
            .window = shape_.window,
            .bias = shape_.biased ? bias.data() : nullptr,
            .bias_stride = shape_.tokens + 1,
            .positions = positions,
            .result = result,
            .result_stride = shape_.head_size + 2,
            .is_causal = shape_.is_causal,
            .distance_slope = shape_.distance_slope,
            .first_query = shape_.first_query,
            .sink = shape_.sink};
  }

  std::vector<float> run(const Way& way) const {
    std::vector<float> result(static_cast<size_t>(shape_.queries * (shape_.head_size + 2)),
                              kUntouched);
    std::optional<kernels::HeadPositions> positions;
    if (!keys_.empty() || !queries_.empty()) positions.emplace(way.pack(vectors()));
    const AttentionHead given = head(result.data(), positions ? &*positions : nullptr);
    const auto size = static_cast<size_t>(way.scratch(given));
    const auto memory = kernels::make_aligned<float>(size + 2 * kMargin);
    float* const scratch = memory.get() + kMargin;
    std::fill_n(memory.get(), size + 2 * kMargin, kUntouched);
    std::fill_n(scratch, size, std::nanf(""));
    way.attend(given, scratch);
    const auto is_untouched = [](float value) { return value == kUntouched; };
    EXPECT_TRUE(std::all_of(memory.get(), scratch, is_untouched)) << way.name << ": before";
    EXPECT_TRUE(std::all_of(scratch + size, scratch + size + kMargin, is_untouched))
        << way.name << ": behind";
    return result;
  }

  std::vector<float> states, bias;

 private:
  Shape shape_;
  int64_t stride_;
  kernels::RelativePositionIndex offsets_{table_rows()};
  std::vector<float> keys_, queries_;
};

struct Expected {
  std::vector<double> result;
  double tolerance;
};

/// The result of one query, with rounded operands.
inline Expected expected(const AttentionHead& head, const kernels::PositionVectors& vectors,
                         int64_t query, const Way& way) {
  std::vector<double> scores(static_cast<size_t>(head.tokens));
  double highest = -std::numeric_limits<double>::infinity();
  bool sees_any = false;
  const int64_t position = head.first_query + query;
  for (int64_t token = 0; token < head.tokens; ++token) {
    double& score = scores[static_cast<size_t>(token)];
    score = -std::numeric_limits<double>::infinity();
    if (std::abs(position - token) > head.window || (head.is_causal && token > position)) continue;
    sees_any = true;
    score = -double{head.distance_slope} * static_cast<double>(std::abs(position - token));
    const int64_t row = *vectors.index->at(token - position) * vectors.stride;
    for (int64_t i = 0; i < head.head_size; ++i) {
      const double key = way.number(head.key[token * head.key_value_stride + i] * head.scale);
      const double of_query = way.number(head.query[query * head.query_stride + i]);
      score += of_query * key;
      if (vectors.keys != nullptr) {
        score += of_query * way.number(vectors.keys[row + i] * vectors.scale);
      }
      if (vectors.queries != nullptr) score += way.number(vectors.queries[row + i]) * key;
    }
    if (head.bias != nullptr) score += head.bias[query * head.bias_stride + token];
    highest = std::max(highest, score);
  }
  Expected wanted{.result = std::vector<double>(static_cast<size_t>(head.head_size)),
                  .tolerance = way.tolerance};
  if (!sees_any) return {.result = wanted.result, .tolerance = 0};
  highest = std::max(highest, double{head.sink});
  double sum = std::exp(head.sink - highest), largest = 0;
  for (int64_t token = 0; token < head.tokens; ++token) {
    const double weight = std::exp(scores[static_cast<size_t>(token)] - highest);
    sum += weight;
    for (int64_t i = 0; i < head.head_size; ++i) {
      const double product = double{way.number(static_cast<float>(weight))} *
                             way.number(head.value[token * head.key_value_stride + i]);
      wanted.result[static_cast<size_t>(i)] += product;
      largest = std::max(largest, std::abs(product));
    }
  }
  for (double& value : wanted.result) value /= sum;
  wanted.tolerance += way.weight_tolerance * largest / sum;
  return wanted;
}

inline void expect_attention(const std::vector<Way>& ways, const Shape& shape) {
  const Example example(shape);
  for (const Way& way : ways) {
    SCOPED_TRACE(way.name);
    std::vector<float> result = example.run(way);
    const AttentionHead head = example.head(result.data());
    for (int64_t query = 0; query < shape.queries; ++query) {
      const auto [wanted, tolerance] = expected(head, example.vectors(), query, way);
      // A score is the sum of three products.
      const double of_scores = shape.queries_by_offset ? 3 * tolerance : tolerance;
      const float* const row = result.data() + query * head.result_stride;
      for (int64_t i = 0; i < shape.head_size; ++i) {
        ASSERT_NEAR(row[i], wanted[static_cast<size_t>(i)], of_scores) << query << ", " << i;
      }
      ASSERT_EQ(row[shape.head_size], kUntouched);
    }
  }
}

}  // namespace attention_test
