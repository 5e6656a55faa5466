// Attention kernels: sizes, windows, biases and relative positions.
#include "attention_example.h"

namespace attention_test {
namespace {

TEST_F(AttentionTest, EveryNumberOfTokens) {
  for (int64_t tokens = 1; tokens <= 70; ++tokens) {
    expect_attention(ways_, {.queries = tokens, .tokens = tokens, .head_size = 32});
  }
  expect_attention(ways_, {.queries = 512, .tokens = 512, .head_size = 64});
}

TEST_F(AttentionTest, EverySizeOfHead) {
  for (int64_t size = 1; size <= 70; ++size) {
    expect_attention(ways_, {.queries = 9, .tokens = 9, .head_size = size});
  }
}

/// Expanded queries (ColBERT): expansion tokens attend to the others, but no token attends to them.
TEST_F(AttentionTest, ExpandedQueries) {
  for (const int64_t tokens : {1, 2, 7, 16, 17, 31}) {
    expect_attention(ways_, {.queries = 32, .tokens = tokens, .head_size = 32});
    expect_attention(ways_, {.queries = 32, .tokens = tokens, .head_size = 32, .biased = true});
    expect_attention(ways_, {.queries = 32, .tokens = tokens, .head_size = 32, .window = 31});
  }
  // The last query attends to the last token only.
  expect_attention(ways_, {.queries = 100, .tokens = 60, .head_size = 24, .window = 40});
}

/// Queries beyond the window of the last token have the result 0, and no memory outside of the
/// scratch is written.
TEST_F(AttentionTest, QueriesWithoutTokens) {
  for (const int64_t queries : {1, 2, 13, 16, 17, 33, 64, 128, 300}) {
    for (const int64_t tokens : {1, 2, 10, 16, 31, 33, 65}) {
      for (const int64_t window : {-1, 0, 1, 7, 16, 31, 64, 200}) {
        const Shape shape{.queries = queries, .tokens = tokens, .head_size = 8, .window = window};
        SCOPED_TRACE(testing::Message() << queries << ", " << tokens << ", " << window);
        expect_attention(ways_, shape);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(AttentionTest, NoTokens) {
  expect_attention(ways_, {.queries = 20, .tokens = 0, .head_size = 8});
  expect_attention(ways_, {.queries = 20, .tokens = 0, .head_size = 8, .window = 4});
  expect_attention(ways_, {.queries = 0, .tokens = 20, .head_size = 8});
}

/// Relative positions with a window, with fewer and with more queries than tokens.
TEST_F(AttentionTest, RelativePositionsInAWindow) {
  for (const int64_t queries : {1, 15, 40, 100}) {
    for (const int64_t tokens : {1, 16, 33, 90}) {
      for (const int64_t window : {0, 5, 20, 64}) {
        SCOPED_TRACE(testing::Message() << queries << ", " << tokens << ", " << window);
        expect_attention(ways_, {.queries = queries,
                                 .tokens = tokens,
                                 .head_size = 12,
                                 .window = window,
                                 .keys_by_offset = true,
                                 .queries_by_offset = true});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(AttentionTest, FirstTokenOnly) {
  for (const int64_t tokens : {1, 2, 16, 17, 100}) {
    expect_attention(ways_, {.queries = 1, .tokens = tokens, .head_size = 32});
    expect_attention(ways_, {.queries = 1, .tokens = tokens, .head_size = 32, .window = 3});
  }
}

TEST_F(AttentionTest, Window) {
  for (const int64_t window : {0, 1, 7, 16, 64, 99, 100, 101}) {
    expect_attention(ways_, {.queries = 100, .tokens = 100, .head_size = 24, .window = window});
    expect_attention(
        ways_, {.queries = 100, .tokens = 100, .head_size = 24, .window = window, .biased = true});
  }
}

TEST_F(AttentionTest, Causal) {
  for (const int64_t tokens : {1, 2, 13, 16, 17, 64, 100, 130}) {
    expect_attention(ways_,
                     {.queries = tokens, .tokens = tokens, .head_size = 32, .is_causal = true});
  }
  for (const int64_t window : {0, 5, 70}) {
    expect_attention(
        ways_,
        {.queries = 100, .tokens = 100, .head_size = 24, .window = window, .is_causal = true});
  }
  expect_attention(ways_, {.queries = 1, .tokens = 100, .head_size = 32, .is_causal = true});
}

TEST_F(AttentionTest, FirstQuery) {
  for (const int64_t first : {1, 15, 16, 70, 99}) {
    const int64_t queries = 100 - first;
    for (const int64_t window : {int64_t{0}, int64_t{7}, attention_test::kUnlimited}) {
      for (const bool is_causal : {false, true}) {
        expect_attention(ways_, {.queries = queries,
                                 .tokens = 100,
                                 .head_size = 32,
                                 .window = window,
                                 .is_causal = is_causal,
                                 .first_query = first});
      }
    }
    expect_attention(ways_, {.queries = queries,
                             .tokens = 100,
                             .head_size = 24,
                             .distance_slope = 0.1F,
                             .first_query = first});
  }
}

/// From a sink without effect to one that takes nearly the whole weight.
TEST_F(AttentionTest, Sink) {
  for (const float sink : {-200.0F, -3.0F, 0.0F, 2.5F, 40.0F, 300.0F}) {
    for (const int64_t tokens : {1, 16, 100}) {
      expect_attention(ways_, {.queries = tokens, .tokens = tokens, .head_size = 32, .sink = sink});
    }
    for (const bool is_causal : {false, true}) {
      expect_attention(ways_, {.queries = 100,
                               .tokens = 100,
                               .head_size = 24,
                               .window = 7,
                               .is_causal = is_causal,
                               .sink = sink});
    }
    expect_attention(ways_, {.queries = 70,
                             .tokens = 70,
                             .head_size = 20,
                             .keys_by_offset = true,
                             .queries_by_offset = true,
                             .sink = sink});
  }
}

TEST_F(AttentionTest, DistanceSlope) {
  for (const int64_t tokens : {1, 17, 100}) {
    for (const float slope : {0.003F, 0.5F}) {
      expect_attention(
          ways_, {.queries = tokens, .tokens = tokens, .head_size = 32, .distance_slope = slope});
    }
  }
}

TEST_F(AttentionTest, Bias) {
  for (const int64_t tokens : {1, 15, 16, 33}) {
    expect_attention(ways_, {.queries = tokens, .tokens = tokens, .head_size = 32, .biased = true});
  }
}

/// Every number of tokens up to a few tiles and panels, and more tokens than kRingRows.
TEST_F(AttentionTest, RelativePositions) {
  for (int64_t tokens = 1; tokens <= 70; ++tokens) {
    expect_attention(ways_, {.queries = tokens,
                             .tokens = tokens,
                             .head_size = 12,
                             .keys_by_offset = tokens % 3 != 0,
                             .queries_by_offset = tokens % 3 != 1});
  }
  for (const int64_t tokens : {127, 200, 600}) {
    expect_attention(ways_, {.queries = tokens == 600 ? 1 : tokens,
                             .tokens = tokens,
                             .head_size = 32,
                             .keys_by_offset = true,
                             .queries_by_offset = true});
  }
}

/// Adjacent offsets with the same table row share a row.
TEST(RelativePositionIndexTest, GrowsByOneAtMost) {
  const kernels::RelativePositionIndex rows(std::vector<int64_t>{5, 5, 2, 2, 9, 5, 5});
  EXPECT_EQ(rows.max_tokens(), 4);
  EXPECT_EQ(rows.table_rows(), (std::vector<int64_t>{5, 2, 9, 5}));
  EXPECT_EQ(std::vector<int32_t>(rows.at(-3), rows.at(-3) + 8),
            (std::vector<int32_t>{0, 0, 1, 1, 2, 3, 3, 3}));
}

/// Scores with large differences do not overflow; the maximum gets the weight 1.
TEST_F(AttentionTest, LargeScores) {
  Example example({.queries = 20, .tokens = 20, .head_size = 16, .biased = true});
  for (float& value : example.bias) value *= 1e4F;
  for (const Way& way : ways_) {
    std::vector<float> result = example.run(way);
    const AttentionHead head = example.head(result.data());
    for (int64_t query = 0; query < head.queries; ++query) {
      const float* const bias = example.bias.data() + query * head.bias_stride;
      const int64_t highest = std::max_element(bias, bias + head.tokens) - bias;
      for (int64_t i = 0; i < head.head_size; ++i) {
        ASSERT_NEAR(result[static_cast<size_t>(query * head.result_stride + i)],
                    way.number(head.value[highest * head.key_value_stride + i]), way.tolerance);
      }
    }
  }
}

/// NaN is propagated to exactly the queries that attend to it.
TEST_F(AttentionTest, NotANumber) {
  for (const float poison : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    Example example({.queries = 12, .tokens = 12, .head_size = 16, .biased = true});
    const AttentionHead head = example.head(nullptr);
    example.bias[static_cast<size_t>(5 * head.bias_stride + 7)] = poison;
    for (const Way& way : ways_) {
      const std::vector<float> result = example.run(way);
      for (int64_t query = 0; query < head.queries; ++query) {
        const float first = result[static_cast<size_t>(query * head.result_stride)];
        EXPECT_EQ(std::isnan(first), query == 5) << way.name << ", " << query;
      }
    }
  }
}

}  // namespace
}  // namespace attention_test
