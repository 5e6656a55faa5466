// Hidden states of an encoder, for the requested tokens.
#include <ATen/ops/allclose.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "encoder/modules/module.h"
#include "encoder/registry.h"

namespace {

using backend::Checkpoint;
using backend::ModelConfig;
using backend::Weights;
using backend::nn::OutputTokens;

/// Encoder of test/fixtures/models/bert-single-label.
ModelConfig config() {
  return ModelConfig({{"hidden_size", 32.0},
                      {"intermediate_size", 64.0},
                      {"max_position_embeddings", 40.0},
                      {"num_attention_heads", 4.0},
                      {"num_hidden_layers", 2.0},
                      {"num_labels", 3.0},
                      {"type_vocab_size", 2.0},
                      {"vocab_size", 420.0}});
}

Weights weights() {
  const std::string file = FIXTURES "/models/bert-single-label/model.safetensors";
  return Weights(std::make_shared<const Checkpoint>(Checkpoint::open({file})), "bert");
}

TEST(EncoderTest, GivesTheStatesThatAreAskedFor) {
  const c10::InferenceMode inference_mode;
  const auto encoder = backend::family_of("bert").make_encoder(config(), weights() / "bert");
  const auto sizes = encoder->sizes();
  EXPECT_EQ(sizes.max_length, 40);
  EXPECT_EQ(sizes.vocabulary_size, 420);
  EXPECT_EQ(sizes.token_types, 2);
  EXPECT_EQ(sizes.hidden_size, 32);
  const backend::Sequence texts[] = {
      {.input_ids = {2, 40, 50, 3}, .token_type_ids = {0, 0, 0, 0}, .samples = {}},
      {.input_ids = {2, 60, 3}, .token_type_ids = {0, 0, 0}, .samples = {}}};
  const backend::Sequence* const pointers[] = {&texts[0], &texts[1]};
  const backend::nn::PackedBatch batch(pointers);
  const at::Tensor all = (*encoder)(batch, OutputTokens::kAllTokens);
  const at::Tensor first = (*encoder)(batch, OutputTokens::kClsOnly);
  EXPECT_EQ(all.sizes(), (at::IntArrayRef{7, 32}));
  EXPECT_EQ(first.sizes(), (at::IntArrayRef{2, 32}));
  EXPECT_TRUE(at::allclose(all[0], first[0], 1e-5, 1e-5));
  EXPECT_TRUE(at::allclose(all[3], first[1], 1e-5, 1e-5));
  EXPECT_FALSE(at::allclose(all[1], first[0], 1e-5, 1e-5));
}

TEST(EncoderTest, HasEveryHead) {
  const c10::InferenceMode inference_mode;
  const auto settings = config();
  const auto columns_and_reads = [&](const backend::TextHead& what) {
    const Weights all = weights();
    const auto head = std::visit(
        [&](const auto& each) {
          return backend::heads::make(each, {.config = settings,
                                             .weights = all,
                                             .base = all / "bert",
                                             .keys = backend::family_of("bert").heads,
                                             .hidden_size = 32,
                                             .vocabulary_size = 420});
        },
        what);
    return std::pair(head->columns(), head->input_tokens());
  };
  using backend::PoolingMode;
  const auto pooled = [&](std::vector<PoolingMode> modes) {
    return columns_and_reads(
        backend::EmbeddingHead{{backend::PoolingModule{.modes = std::move(modes)}}});
  };
  const std::pair<int64_t, OutputTokens> all{32, OutputTokens::kAllTokens},
      first{32, OutputTokens::kClsOnly};
  EXPECT_EQ(columns_and_reads(backend::SequenceClassificationHead{}),
            std::pair(int64_t{3}, OutputTokens::kClsOnly));
  EXPECT_EQ(columns_and_reads(backend::TokenClassificationHead{}),
            std::pair(int64_t{3}, OutputTokens::kAllTokens));
  EXPECT_EQ(columns_and_reads(backend::MaskedLmHead{}),
            std::pair(int64_t{420}, OutputTokens::kAllTokens));
  EXPECT_EQ(columns_and_reads(backend::EmbeddingHead{}), all);
  EXPECT_EQ(pooled({PoolingMode::kMean}), all);
  EXPECT_EQ(pooled({PoolingMode::kCls}), first);
  EXPECT_EQ(pooled({PoolingMode::kCls, PoolingMode::kMax}),
            std::pair(int64_t{64}, OutputTokens::kAllTokens));
  EXPECT_THROW(pooled({}), common::LoadError);
}

/// Hidden states of two texts of 2 and 4 tokens, with one NaN.
struct Diverged {
  explicit Diverged(int64_t token) : batch(pointers), states(at::zeros({6, 32})) {
    states[token][5] = std::numeric_limits<float>::quiet_NaN();
  }

  const backend::Sequence texts[2] = {
      {.input_ids = {2, 3}, .token_type_ids = {0, 0}, .samples = {}},
      {.input_ids = {2, 60, 61, 3}, .token_type_ids = {0, 0, 0, 0}, .samples = {}}};
  const backend::Sequence* pointers[2] = {&texts[0], &texts[1]};
  backend::nn::PackedBatch batch;
  at::Tensor states;  ///< the first text's, then the second's
};

/// NaN propagates from any token, as in torch.max(), so that it can be rejected.
TEST(EncoderTest, NoPoolingHidesThatAStateIsNoNumber) {
  const c10::InferenceMode inference_mode;
  const auto settings = config();
  const Weights all = weights();
  using backend::PoolingMode;
  for (int64_t token = 0; token < 6; ++token) {
    const Diverged diverged(token);
    const int64_t text = token < 2 ? 0 : 1;
    for (const PoolingMode mode : {PoolingMode::kMax, PoolingMode::kMean,
                                   PoolingMode::kMeanSqrtLength, PoolingMode::kWeightedMean}) {
      const auto pooling = backend::modules::make(backend::PoolingModule{.modes = {mode}}, 32);
      const at::Tensor pooled = (*pooling)(diverged.states, diverged.batch);
      EXPECT_TRUE(pooled[text][5].isnan().item<bool>()) << token;
      EXPECT_EQ(pooled.isnan().sum().item<int64_t>(), 1) << token;
    }
    for (const bool sum : {false, true}) {
      const auto head = backend::heads::make(backend::MaskedLmHead{.sum = sum},
                                             {.config = settings,
                                              .weights = all,
                                              .base = all / "bert",
                                              .keys = backend::family_of("bert").heads,
                                              .hidden_size = 32,
                                              .vocabulary_size = 420});
      const at::Tensor words = (*head)(diverged.states, diverged.batch);
      EXPECT_TRUE(words[text].isnan().all().item<bool>()) << token;
      EXPECT_FALSE(words[1 - text].isnan().any().item<bool>()) << token;
    }
  }
}

}  // namespace
