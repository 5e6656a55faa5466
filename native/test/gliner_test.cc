// Lists with a limit: vectors of labels, and spans.
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "encoder/heads/gliner/best_spans.h"
#include "encoder/heads/gliner/label_cache.h"

namespace backend::heads::gliner {
namespace {

at::Tensor vector_of(float value) { return at::full({2}, value); }

TEST(LabelCache, KeepsTheLabelsThatWereUsedLast) {
  LabelCache cache(2);
  cache.add({1, 2}, vector_of(1));
  cache.add({1, 3}, vector_of(2));
  EXPECT_EQ(cache.find({1, 2})[0].item<float>(), 1);
  cache.add({1}, vector_of(3));
  EXPECT_FALSE(cache.find({1, 3}).defined());
  EXPECT_EQ(cache.find({1, 2})[0].item<float>(), 1);
  EXPECT_EQ(cache.find({1})[0].item<float>(), 3);
  EXPECT_FALSE(cache.find({}).defined());
}

TEST(LabelCache, KeepsTheFirstVectorOfALabel) {
  LabelCache cache(1);
  cache.add({1}, vector_of(1));
  cache.add({1}, vector_of(2));
  EXPECT_EQ(cache.find({1})[0].item<float>(), 1);
  cache.add({2}, vector_of(3));
  EXPECT_FALSE(cache.find({1}).defined());
  EXPECT_EQ(cache.find({2})[0].item<float>(), 3);
}

/// Spans of one label with the scores 0, 1, … in an order that depends on `step`.
std::vector<Span> spans_in_order(int64_t count, int64_t step) {
  std::vector<Span> spans;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t word = i * step % count;
    // Pairs of spans have the same score.
    const int64_t pair = word / 2;
    spans.push_back({word, word, 0, static_cast<float>(pair)});
  }
  return spans;
}

std::vector<int64_t> words_of(const std::vector<Span>& spans) {
  std::vector<int64_t> words;
  words.reserve(spans.size());
  for (const Span& span : spans) words.push_back(span.first);
  std::ranges::sort(words);
  return words;
}

TEST(BestSpans, KeepsTheHighestScoresInAnyOrder) {
  constexpr auto kMax = static_cast<int64_t>(BestSpans::kMaxSpans);
  constexpr int64_t kCount = 5 * kMax + 1;  // odd: the highest score has one span
  std::vector<int64_t> expected;
  // Of the two spans with the lowest kept score, the first one.
  for (int64_t word = kCount - kMax; word < kCount; ++word) expected.push_back(word);
  expected.front() -= expected.front() % 2;
  for (const int64_t step : {int64_t{1}, int64_t{7}, kCount - 1}) {
    BestSpans all;
    SharedBestSpans shared;
    BestSpans half;
    for (const Span& span : spans_in_order(kCount, step)) {
      all.add(span);
      half.add(span);
      if (span.first % 1000 != 0) continue;
      shared.add(half);
      half = {};
    }
    shared.add(half);
    EXPECT_EQ(words_of(all.take()), expected);
    EXPECT_EQ(words_of(shared.take()), expected);
  }
}

TEST(BestSpans, KeepsAllUpToTheLimit) {
  BestSpans few;
  for (const Span& span : spans_in_order(10, 3)) few.add(span);
  EXPECT_EQ(few.take().size(), 10U);
}

}  // namespace
}  // namespace backend::heads::gliner
