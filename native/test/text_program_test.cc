// Inputs of text programs, and grouping of texts.
#include <ATen/core/Tensor.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/backends.h"
#include "common/error.h"
#include "program_under_test.h"
#include "programs/program_backend.h"

namespace {

using backend::DimRange;
using backend::ProgramInput;
using common::LoadError;
using test::exactly;
using test::kAny;
using test::Runs;

/// Output from the tokens that the mask (the second input) selects.
at::Tensor masked_mean(const std::vector<at::Tensor>& inputs) {
  const at::Tensor values = inputs[0].to(at::kFloat).sin();
  const at::Tensor mask = inputs[1].to(at::kFloat);
  const at::Tensor mean = values.mul(mask).sum(1).div(mask.sum(1));
  return at::stack({mean, mean.mul(2), mean.neg()}, 1);
}

at::Tensor mean_of_all(const std::vector<at::Tensor>& inputs) {
  return masked_mean({inputs[0], at::ones_like(inputs[0])});
}

struct Served : backend::LoadedModel {
  std::shared_ptr<Runs> runs = std::make_shared<Runs>();

  /// Inputs of the model for texts of these numbers of words, one entry for each run. Outputs must
  /// be equal to those of single texts.
  std::vector<at::IntArrayRef> sizes(const std::vector<size_t>& words) {
    auto& model = static_cast<backend::ModelBackend&>(*backend);
    std::vector<backend::Sequence> texts;
    for (const size_t count : words) {
      std::string text;
      for (size_t i = 0; i < count; ++i) text += "a ";
      texts.push_back(model.to_sequence(backend::TextInput{.text = text}));
    }
    std::vector<const backend::Sequence*> batch;
    batch.reserve(texts.size());
    for (const auto& text : texts) batch.push_back(&text);
    std::vector<scheduler::Output> alone;
    alone.reserve(batch.size());
    for (const auto* text : batch) {
      alone.push_back(model.run_batch({&text, 1}, nullptr).front());
    }
    runs->clear();
    const auto together = model.run_batch(batch, nullptr);
    EXPECT_EQ(together.size(), words.size());
    for (size_t i = 0; i < together.size(); ++i) {
      for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(together[i].values[j], alone[i].values[j], 1e-5);
    }
    std::vector<at::IntArrayRef> sizes;
    for (const auto& run : *runs) sizes.push_back(run.front().sizes());
    return sizes;
  }
};

backend::TextProgramSource source_of(std::optional<int64_t> padding_id) {
  return {.path = "/models/model.pt2",
          .tokenizer_directory = FIXTURES "/models/torchscript-dict",
          .num_labels = 3,
          .position_limit = 64,
          .padding_id = padding_id};
}

Served serve(std::vector<ProgramInput> inputs,
             const test::ProgramUnderTest::Forward& forward = masked_mean,
             std::optional<int64_t> padding_id = {}) {
  Served served;
  static_cast<backend::LoadedModel&>(served) = backend::serve_texts(
      std::make_unique<test::ProgramUnderTest>(std::move(inputs), forward, served.runs),
      source_of(padding_id), {});
  return served;
}

ProgramInput input(std::string name, std::vector<DimRange> sizes,
                   c10::ScalarType type = c10::kLong) {
  return {.name = std::move(name), .type = type, .sizes = std::move(sizes)};
}

std::vector<ProgramInput> both(const DimRange& texts, const DimRange& length,
                               c10::ScalarType mask = c10::kLong) {
  return {input("input_ids", {texts, length}), input("attention_mask", {texts, length}, mask)};
}

std::string problem_of(const std::vector<ProgramInput>& inputs) {
  return test::message_of<common::LoadError>([&] { serve(inputs); });
}

using Sizes = std::vector<at::IntArrayRef>;

TEST(TextProgramTest, PadsTextsOfCloseLengths) {
  Served served = serve(both(kAny, kAny));
  EXPECT_TRUE(served.backend->description().batching);
  EXPECT_TRUE(served.report.warnings.empty());
  // With two special tokens 5, 6, 7 and 12: lengths that differ by one token share a run.
  EXPECT_EQ(served.sizes({10, 3, 5, 4}), (Sizes{{2, 6}, {1, 7}, {1, 12}}));
  const at::Tensor mask = served.runs->front()[1];
  for (int64_t i = 0; i < 2; ++i) EXPECT_EQ(mask[i].sum().item<int64_t>(), 5 + i);
  EXPECT_EQ(served.runs->front()[0][0][5].item<int64_t>(), 0);  // [PAD]
}

TEST(TextProgramTest, PadsWithTheTokenOfTheConfiguration) {
  Served served = serve(both(kAny, kAny), masked_mean, 7);
  served.sizes({3, 4});
  EXPECT_EQ(served.runs->front()[0][0][5].item<int64_t>(), 7);
}

TEST(TextProgramTest, PadsNothingWherePaddingChangesAnswers) {
  Served served = serve(both(kAny, kAny), mean_of_all);
  EXPECT_TRUE(served.backend->description().batching);
  EXPECT_EQ(served.sizes({3, 4, 3}), (Sizes{{2, 5}, {1, 6}}));
}

TEST(TextProgramTest, PadsNothingWithoutAMaskOrASignature) {
  Served unmasked = serve({input("input_ids", {kAny, kAny})}, mean_of_all);
  EXPECT_EQ(unmasked.sizes({3, 4}), (Sizes{{1, 5}, {1, 6}}));
  Served silent = serve({{.name = "input_ids", .type = {}, .sizes = {}},
                         {.name = "attention_mask", .type = {}, .sizes = {}}});
  EXPECT_EQ(silent.sizes({3, 4}), (Sizes{{1, 5}, {1, 6}}));
}

TEST(TextProgramTest, FillsUpToWhatTheFileTakes) {
  Served alone = serve(both(exactly(1), kAny));
  EXPECT_FALSE(alone.backend->description().batching);
  EXPECT_EQ(alone.report.warnings.size(), 1U);
  EXPECT_EQ(alone.sizes({3, 3}), (Sizes{{1, 5}, {1, 5}}));

  Served four = serve(both(exactly(4), kAny));
  EXPECT_TRUE(four.backend->description().batching);
  EXPECT_EQ(four.sizes({3, 3, 3, 3, 3}), (Sizes{{4, 5}, {4, 5}}));

  Served fixed = serve(both(kAny, exactly(16)));
  EXPECT_EQ(fixed.backend->description().max_length, 16U);
  EXPECT_EQ(fixed.report.warnings.size(), 1U);
  EXPECT_EQ(fixed.sizes({3, 40, 7}), (Sizes{{3, 16}}));

  Served least = serve(both(kAny, {.min = 8, .max = 32}));
  EXPECT_EQ(least.backend->description().max_length, 32U);
  EXPECT_EQ(least.sizes({1, 2, 3}), (Sizes{{3, 8}}));
}

TEST(TextProgramTest, GivesEachInputItsType) {
  for (const auto type : {c10::kBool, c10::kFloat, c10::kInt}) {
    Served served = serve(both(kAny, kAny, type));
    served.sizes({3, 5});
    EXPECT_EQ(served.runs->front()[1].scalar_type(), type);
  }
  EXPECT_EQ(problem_of({input("input_ids", {kAny, kAny}, c10::kFloat)}),
            "model.pt2: input_ids: takes Float, expected int64 or int32");
}

TEST(TextProgramTest, KnowsInputsByNameAndByPlace) {
  const auto swapped = [](const std::vector<at::Tensor>& inputs) {
    return masked_mean({inputs[1], inputs[0]});
  };
  EXPECT_EQ(
      serve({input("attention_mask", {kAny, kAny}), input("input_ids", {kAny, kAny})}, swapped)
          .sizes({3, 4}),
      (Sizes{{2, 6}}));
  EXPECT_EQ(serve({input("a", {kAny, kAny}), input("b", {kAny, kAny})}).sizes({3, 4}),
            (Sizes{{2, 6}}));
}

TEST(TextProgramTest, RefusesWhatDoesNotFit) {
  const std::string expected =
      ", expected input_ids, attention_mask and token_type_ids, or some "
      "of them";
  EXPECT_EQ(problem_of({input("input_ids", {kAny, kAny}), input("position_ids", {kAny, kAny})}),
            "model.pt2: takes 2 inputs (input_ids, position_ids)" + expected);
  EXPECT_EQ(problem_of({}), "model.pt2: takes no input" + expected);
  EXPECT_EQ(problem_of({input("input_ids", {kAny, kAny, kAny})}),
            "model.pt2: input_ids: has 3 dimensions, expected [texts, length]");
  EXPECT_EQ(problem_of({input("input_ids", {kAny, exactly(8)}),
                        input("attention_mask", {kAny, exactly(16)})}),
            "model.pt2: attention_mask: takes a length of 16, which does not overlap the other "
            "inputs' 8");
  EXPECT_EQ(problem_of({input("input_ids", {kAny, exactly(8)})}),
            "model.pt2: takes texts of 8 tokens, to which shorter ones have to be padded, but it "
            "takes no attention_mask; scripts/export.py exports it for any length");
}

}  // namespace
