// Assignment of output rows to the sequences of a packed batch.
#include "text/packed_batch.h"

#include <ATen/ops/arange.h>
#include <gtest/gtest.h>

#include <vector>

namespace {

using backend::nn::PackedBatch;

/// Sequences of lengths that are sorted in the order 1, 2, 3.
struct Texts {
  Texts() {
    for (const size_t length : {3, 1, 2}) {
      texts.push_back({.input_ids = std::vector<int64_t>(length),
                       .token_type_ids = std::vector<int64_t>(length),
                       .samples = {}});
    }
    for (const backend::Sequence& text : texts) pointers.push_back(&text);
  }
  std::vector<backend::Sequence> texts;
  std::vector<const backend::Sequence*> pointers;
};

TEST(PackedBatchTest, OfARowForEachSequenceEachTextHasItsOwn) {
  const Texts texts;
  const PackedBatch batch(texts.pointers);
  const auto outputs = batch.outputs(at::arange(6, at::kFloat).view({3, 2}));
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0], (scheduler::Output{.values = {4, 5}}));
  EXPECT_EQ(outputs[1], (scheduler::Output{.values = {0, 1}}));
  EXPECT_EQ(outputs[2], (scheduler::Output{.values = {2, 3}}));
}

TEST(PackedBatchTest, OfARowForEachTokenEachTextHasThoseOfItsTokens) {
  const Texts texts;
  const PackedBatch batch(texts.pointers);
  const auto outputs = batch.outputs(at::arange(12, at::kFloat).view({6, 2}));
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0], (scheduler::Output{.values = {6, 7, 8, 9, 10, 11}, .rows = 3}));
  EXPECT_EQ(outputs[1], (scheduler::Output{.values = {0, 1}}));
  EXPECT_EQ(outputs[2], (scheduler::Output{.values = {2, 3, 4, 5}, .rows = 2}));
}

TEST(PackedBatchTest, OfARowForEachChunkEachTextHasThoseOfItsChunks) {
  Texts texts;
  texts.texts[0].chunk_ends = {1, 3};
  const PackedBatch batch(texts.pointers);
  EXPECT_EQ(batch.cu_pooled_rows, (std::vector<int64_t>{0, 1, 2, 4}));
  EXPECT_EQ(batch.pooled_ends, (std::vector<int64_t>{1, 2, 1, 3}));
  const auto outputs = batch.outputs(at::arange(8, at::kFloat).view({4, 2}));
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0], (scheduler::Output{.values = {4, 5, 6, 7}, .rows = 2}));
  EXPECT_EQ(outputs[1], (scheduler::Output{.values = {0, 1}}));
  EXPECT_EQ(outputs[2], (scheduler::Output{.values = {2, 3}}));
}

}  // namespace
