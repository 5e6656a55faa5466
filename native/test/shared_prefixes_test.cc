// Sequences that begin with the same tokens.
#include "encoder/nn/shared_prefixes.h"

#include <ATen/ops/equal.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "text/packed_batch.h"

namespace {

using backend::nn::PackedBatch;
using backend::nn::SharedPrefixes;

struct Texts {
  explicit Texts(const std::vector<std::vector<int64_t>>& ids) {
    for (const auto& one : ids) {
      backend::Sequence text;
      text.input_ids = one;
      text.token_type_ids.resize(one.size());
      texts.push_back(text);
    }
    for (const backend::Sequence& text : texts) pointers.push_back(&text);
  }

  PackedBatch batch() const { return PackedBatch(pointers); }

  std::vector<backend::Sequence> texts;
  std::vector<const backend::Sequence*> pointers;
};

/// Numbers of rows of the batch with shared prefixes; those of its tokens if nothing is shared.
int64_t rows(const std::vector<std::vector<int64_t>>& ids) {
  const Texts texts(ids);
  const PackedBatch batch = texts.batch();
  const auto prefixes = SharedPrefixes::find(batch);
  return prefixes ? prefixes->rows_of(batch.input_ids).size(0) : batch.tokens();
}

TEST(SharedPrefixes, HaveOneRowForEachBeginning) {
  const c10::InferenceMode guard;
  EXPECT_EQ(rows({{1, 2, 3}, {1, 2, 4, 5}, {9}, {1, 2}}), 6);
  EXPECT_EQ(rows({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}), 3);
  EXPECT_EQ(rows({{1, 2, 3, 4}, {1, 7, 3, 4}, {1, 7, 3, 5}}), 8);
  EXPECT_EQ(rows({{1, 2}, {}, {1}}), 2);
}

TEST(SharedPrefixes, AreNotSoughtInVain) {
  const c10::InferenceMode guard;
  EXPECT_EQ(rows({{1, 2, 3}, {2, 3}, {3, 2, 1}}), 8);
  EXPECT_EQ(rows({{1, 2, 3}}), 3);
  const std::vector<int64_t> first(20, 1);
  std::vector<int64_t> second(20, 2);
  second[0] = 1;
  EXPECT_EQ(rows({first, second}), 40) << "a fortieth";
}

TEST(SharedPrefixes, MapTokensAndRows) {
  const c10::InferenceMode guard;
  const Texts texts({{5, 6, 7, 8}, {5, 6}, {5, 9, 7}, {5, 6, 7, 1, 2}});
  const PackedBatch batch = texts.batch();
  const auto prefixes = SharedPrefixes::find(batch);
  ASSERT_TRUE(prefixes);
  const at::Tensor ids = prefixes->rows_of(batch.input_ids);
  EXPECT_TRUE(at::equal(prefixes->tokens_of(ids), batch.input_ids));
  const at::Tensor positions = prefixes->rows_of(batch.position_ids());
  EXPECT_TRUE(at::equal(prefixes->tokens_of(positions), batch.position_ids()));
  for (size_t i = 0; i < batch.order.size(); ++i) {
    const int64_t length = batch.cu_seqlens[i + 1] - batch.cu_seqlens[i];
    for (int64_t j = prefixes->prefix(i); j < length; ++j) {
      const int64_t row = prefixes->first_row(i) + j - prefixes->prefix(i);
      EXPECT_EQ(ids[row].item<int64_t>(), batch.input_ids[batch.cu_seqlens[i] + j].item<int64_t>());
      EXPECT_EQ(positions[row].item<int64_t>(), j);
    }
  }
}

}  // namespace
