// Inputs of signal programs, and grouping of windows.
#include <ATen/core/Tensor.h>
#include <ATen/ops/stack.h>
#include <gtest/gtest.h>

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

/// Two values for each window, independent of other windows.
at::Tensor alone(const std::vector<at::Tensor>& inputs) {
  const at::Tensor windows = inputs.front().flatten(1).to(at::kFloat);
  return at::stack({windows.sum(1), windows.mul(windows).sum(1)}, 1);
}

at::Tensor among_others(const std::vector<at::Tensor>& inputs) {
  const at::Tensor own = alone(inputs);
  return own.sub(own.mean(0, true));
}

struct Served : backend::LoadedModel {
  std::shared_ptr<Runs> runs = std::make_shared<Runs>();

  /// Sizes of the model's inputs for a number of windows.
  std::vector<at::IntArrayRef::value_type> first_sizes(size_t windows) {
    auto& model = static_cast<backend::ModelBackend&>(*backend);
    std::vector<backend::Sequence> sequences;
    sequences.reserve(windows);
    for (size_t i = 0; i < windows; ++i) {
      sequences.push_back(model.to_sequence(std::vector<float>(12, static_cast<float>(i))));
    }
    std::vector<const backend::Sequence*> batch;
    batch.reserve(windows);
    for (const auto& sequence : sequences) batch.push_back(&sequence);
    runs->clear();
    const auto answers = model.run_batch(batch, nullptr);
    EXPECT_EQ(answers.size(), windows);
    for (size_t i = 0; i < answers.size(); ++i) {
      EXPECT_EQ(answers[i].values.front(), 12 * static_cast<float>(i));
    }
    std::vector<int64_t> sizes;
    for (const auto& run : *runs) sizes.push_back(run.front().size(0));
    return sizes;
  }
};

Served serve(std::vector<ProgramInput> inputs, backend::SignalProgramSource source = {},
             const test::ProgramUnderTest::Forward& forward = alone) {
  source.path = "/models/eeg_model.pt2";
  if (source.window_length == 0) source.window_length = 12;
  Served served;
  static_cast<backend::LoadedModel&>(served) = backend::serve_signals(
      std::make_unique<test::ProgramUnderTest>(std::move(inputs), forward, served.runs), source,
      {});
  return served;
}

ProgramInput windows(std::vector<DimRange> sizes, c10::ScalarType type = c10::kFloat) {
  return {.name = "x", .type = type, .sizes = std::move(sizes)};
}

std::string problem_of(const std::vector<ProgramInput>& inputs,
                       const backend::SignalProgramSource& source = {}) {
  return test::message_of<common::LoadError>([&] { serve(inputs, source); });
}

TEST(SignalProgramTest, SharesRunsWhereTheNumberOfWindowsIsFree) {
  Served served = serve({windows({kAny, exactly(3), exactly(4)})});
  EXPECT_TRUE(served.backend->description().batching);
  EXPECT_TRUE(served.report.warnings.empty());
  EXPECT_EQ(served.first_sizes(5), (std::vector<int64_t>{5}));
  EXPECT_EQ(served.runs->front().front().sizes(), (at::IntArrayRef{5, 3, 4}));
}

TEST(SignalProgramTest, RunsEachAloneWhereTheFileTakesOne) {
  Served served = serve({windows({exactly(1), exactly(12)})});
  EXPECT_FALSE(served.backend->description().batching);
  ASSERT_EQ(served.report.warnings.size(), 1U);
  EXPECT_NE(served.report.warnings.front().find("exactly 1 window:"), std::string::npos);
  EXPECT_EQ(served.first_sizes(3), (std::vector<int64_t>{1, 1, 1}));
}

TEST(SignalProgramTest, FillsUpToWhatTheFileTakes) {
  Served served = serve({windows({exactly(4), exactly(12)})});
  EXPECT_TRUE(served.backend->description().batching);
  EXPECT_EQ(served.report.warnings.size(), 1U);
  EXPECT_EQ(served.first_sizes(6), (std::vector<int64_t>{4, 4}));
  const at::Tensor& last = served.runs->back().front();
  EXPECT_TRUE(last[3].equal(last[1]));

  Served bounded = serve({windows({{.min = 3, .max = 5}, exactly(12)})});
  EXPECT_EQ(bounded.first_sizes(6), (std::vector<int64_t>{5, 3}));
}

TEST(SignalProgramTest, SharesNoRunWhereCompanyChangesAnswers) {
  EXPECT_FALSE(
      serve({windows({kAny, exactly(12)})}, {}, among_others).backend->description().batching);
}

TEST(SignalProgramTest, ConvertsToTheTypeOfTheFile) {
  for (const auto type : {c10::kDouble, c10::kHalf, c10::kBFloat16}) {
    Served served = serve({windows({kAny, exactly(12)}, type)});
    served.first_sizes(2);
    EXPECT_EQ(served.runs->front().front().scalar_type(), type);
  }
  EXPECT_EQ(problem_of({windows({kAny, exactly(12)}, c10::kLong)}),
            "eeg_model.pt2: x: takes Long, expected a floating-point type");
}

TEST(SignalProgramTest, TakesTheShapeOfTheSettingsWhereTheFileLeavesItOpen) {
  const ProgramInput silent{.name = "x", .type = {}, .sizes = {}};
  const auto shape_of = [](Served served) {
    served.first_sizes(2);
    return served.runs->front().front().sizes().vec();
  };
  EXPECT_EQ(shape_of(serve({silent})), (std::vector<int64_t>{2, 1, 12}));
  EXPECT_EQ(shape_of(serve({silent}, {.path = {}, .window_length = 12, .input_shape = {2, 3, 2}})),
            (std::vector<int64_t>{2, 2, 3, 2}));
  EXPECT_EQ(shape_of(serve({windows({kAny, exactly(1), {.min = 2, .max = 64}})})),
            (std::vector<int64_t>{2, 1, 12}));
}

TEST(SignalProgramTest, RefusesWhatDoesNotFit) {
  EXPECT_EQ(problem_of({windows({kAny, exactly(12)}), {.name = "age", .type = {}, .sizes = {}}}),
            "eeg_model.pt2: takes 2 inputs (x, age), expected one, the windows");
  EXPECT_EQ(problem_of({}), "eeg_model.pt2: takes no input, expected one, the windows");
  EXPECT_EQ(
      problem_of({windows({kAny, exactly(3), exactly(32)})}),
      "eeg_model.pt2: takes windows of [3, 32], but eeg_model.json specifies (or defaults to) "
      "window_length 12: set it there to the product of these");
  EXPECT_EQ(problem_of({windows({kAny, exactly(3), exactly(4)})},
                       {.path = {}, .window_length = 12, .input_shape = {4, 3}}),
            "eeg_model.pt2: takes windows of [3, 4], but is given [4, 3]: set input_shape in "
            "eeg_model.json");
  EXPECT_EQ(problem_of({windows({kAny, exactly(1), {.min = 64, .max = 128}})}),
            "eeg_model.pt2: takes windows of [1, 64 to 128], but is given [1, 12]: set input_shape "
            "in eeg_model.json");
  EXPECT_EQ(problem_of({windows({})}), "eeg_model.pt2: x: takes one number, expected windows");
}

}  // namespace
