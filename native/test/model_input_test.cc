// The hash of a prepared input: inputs that the model reads differently have different hashes.
#include "backend/model_input.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace {

using backend::Sequence;

Sequence sequence_of(std::vector<int64_t> ids) {
  Sequence sequence;
  sequence.token_type_ids.resize(ids.size());
  sequence.input_ids = std::move(ids);
  return sequence;
}

scheduler::SipHash128::Hash hash_of(const Sequence& sequence) {
  scheduler::SipHash128 hash({1, 2});
  backend::PreparedSequence(sequence).add_to(hash);
  return hash.finish();
}

TEST(PreparedSequence, HashesEverythingThatAModelReads) {
  std::vector<Sequence> different{sequence_of({1, 2, 3}), sequence_of({1, 2}),
                                  sequence_of({1, 2, 0}), sequence_of({3, 2, 1})};
  different.push_back(different.front());
  different.back().token_type_ids.back() = 1;
  different.push_back(different.front());
  different.back().prompt_tokens = 1;
  different.push_back(different.front());
  different.back().unattended_expansion_tokens = 1;
  different.push_back(different.front());
  different.back().skiplist_rows = {0};
  different.push_back(different.front());
  different.back().skiplist_rows = {1};
  different.push_back(different.front());
  different.back().parts = backend::EmbeddingParts();
  different.push_back(different.front());
  different.back().adapter_task = 0;
  different.push_back(different.front());
  different.back().adapter_task = 1;
  different.push_back(different.front());
  different.back().chunk_ends = {1, 3};
  different.push_back(different.front());
  different.back().chunk_ends = {2, 3};
  different.push_back(different.front());
  different.back().markers = {1};
  different.push_back(different.front());
  different.back().markers = {2};
  different.push_back(different.front());
  different.back().markers = {1, 2};
  different.push_back(different.front());
  different.back().question_type = 1;
  const auto add_entities = [&](const backend::EntityRows& rows) {
    different.push_back(different.front());
    different.back().entities = std::make_shared<const backend::EntityRows>(rows);
  };
  add_entities({.labels = {1}, .label_ids = {}, .words = {2}});
  add_entities({.labels = {1}, .label_ids = {}, .words = {2}, .threshold = 0.5});
  add_entities({.labels = {2}, .label_ids = {}, .words = {2}});
  add_entities({.labels = {}, .label_ids = {{1, 2}}, .words = {2}});
  add_entities({.labels = {}, .label_ids = {{1, 3}}, .words = {2}});
  add_entities({.labels = {}, .label_ids = {{1}, {2}}, .words = {2}});
  std::vector<scheduler::SipHash128::Hash> hashes;
  hashes.reserve(different.size());
  for (const Sequence& each : different) hashes.push_back(hash_of(each));
  EXPECT_EQ(hash_of(different.front()), hashes.front());
  std::ranges::sort(hashes);
  EXPECT_EQ(std::ranges::adjacent_find(hashes), hashes.end());
}

TEST(PreparedSequence, CountsTheTokensOfLabelsWithAnEncoderOfTheirOwn) {
  Sequence sequence = sequence_of({1, 2, 3});
  EXPECT_EQ(backend::PreparedSequence(sequence).cost(), 3U);
  sequence.entities = std::make_shared<const backend::EntityRows>(
      backend::EntityRows{.labels = {}, .label_ids = {{1, 2}, {}, {1, 2, 3}}, .words = {1}});
  EXPECT_EQ(backend::PreparedSequence(sequence).cost(), 8U);
  EXPECT_EQ(backend::PreparedSequence(Sequence()).cost(), 1U);
}

}  // namespace
