// Inputs of signal programs, and grouping of windows.
#include <ATen/core/Tensor.h>
#include <ATen/ops/stack.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "backend/backends.h"
#include "common/error.h"
#include "program_under_test.h"
#include "programs/program_backend.h"
#include "scheduler/thread_pool.h"

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
  std::vector<at::IntArrayRef::value_type> first_sizes(
      size_t windows, const scheduler::AssignedPool& pool = nullptr) {
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
    const auto answers = model.run_batch(batch, pool);
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

TEST(SignalProgramTest, SplitsABatchOverTheThreadsOfThePool) {
  std::atomic<int> wrong = 0;
  const auto checked = [&wrong](const std::vector<at::Tensor>& inputs) {
    if (!c10::InferenceMode::is_enabled()) ++wrong;
    return alone(inputs);
  };
  scheduler::ThreadPool threads(1);
  const scheduler::AssignedPool pool(&threads);
  Served served = serve({windows({kAny, exactly(12)})}, {}, checked);
  const std::vector<int64_t> sizes = served.first_sizes(20, pool);
  EXPECT_EQ(sizes.size(), 8U);
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}), 20);
  EXPECT_EQ(*std::ranges::max_element(sizes), 3);
  EXPECT_EQ(served.first_sizes(1, pool), (std::vector<int64_t>{1}));
  EXPECT_EQ(wrong, 0);

  Served fours = serve({windows({exactly(4), exactly(12)})});
  EXPECT_EQ(fours.first_sizes(10, pool), (std::vector<int64_t>{4, 4, 4}));
}

TEST(SignalProgramTest, ReportsTheErrorOfAPartOfABatch) {
  const auto failing = [](const std::vector<at::Tensor>& inputs) {
    if (inputs.front().eq(7).any().item<bool>()) throw scheduler::BackendError("seven");
    return alone(inputs);
  };
  scheduler::ThreadPool threads(1);
  const scheduler::AssignedPool pool(&threads);
  Served served = serve({windows({kAny, exactly(12)})}, {}, failing);
  EXPECT_EQ(test::message_of<scheduler::BackendError>([&] { served.first_sizes(20, pool); }),
            "seven");
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
            "eeg_model.pt2: takes 2 inputs (x, age), expected one, the windows: set the others in "
            "constant_inputs in eeg_model.json");
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

ProgramInput constant(std::vector<DimRange> sizes, c10::ScalarType type = c10::kFloat) {
  return {.name = "pos", .type = type, .sizes = std::move(sizes)};
}

backend::SignalProgramSource with(std::vector<int64_t> shape, std::vector<double> values) {
  backend::SignalProgramSource source{.path = {}, .window_length = 12, .input_shape = {}};
  source.constant_inputs = {
      {.name = "pos", .shape = std::move(shape), .values = std::move(values)}};
  return source;
}

TEST(SignalProgramTest, PassesConstantsWithTheBatchOrWithoutIt) {
  const ProgramInput x = windows({kAny, exactly(12)});
  Served batched = serve({x, constant({kAny, exactly(2)})}, with({2}, {1.5, -2}));
  EXPECT_EQ(batched.first_sizes(3), (std::vector<int64_t>{3}));
  const at::Tensor& expanded = batched.runs->front()[1];
  EXPECT_EQ(expanded.sizes(), (at::IntArrayRef{3, 2}));
  EXPECT_TRUE(expanded.is_contiguous());
  EXPECT_EQ(expanded[2][1].item<float>(), -2);

  Served alone = serve({x, constant({exactly(2)}, c10::kLong)}, with({2}, {4, -7}));
  alone.first_sizes(3);
  EXPECT_EQ(alone.runs->front()[1].scalar_type(), c10::kLong);
  EXPECT_EQ(alone.runs->front()[1][1].item<int64_t>(), -7);
}

TEST(SignalProgramTest, KeepsTheOrderOfTheInputs) {
  const auto second = [](const std::vector<at::Tensor>& inputs) { return ::alone({inputs[1]}); };
  Served served = serve({constant({exactly(1), exactly(2)}), windows({kAny, exactly(12)})},
                        with({2}, {1, 2}), second);
  test::Runs& runs = *served.runs;
  EXPECT_EQ(runs.back()[0].sizes(), (at::IntArrayRef{1, 2}));
  EXPECT_EQ(runs.back()[1].size(1), 12);
}

TEST(SignalProgramTest, ConstantsLimitTheWindowsOfARun) {
  Served served =
      serve({windows({kAny, exactly(12)}), constant({{.min = 2, .max = 4}, exactly(2)})},
            with({2}, {1, 2}));
  EXPECT_EQ(served.first_sizes(6), (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(problem_of({windows({{.min = 5, .max = 9}, exactly(12)}),
                        constant({{.min = 2, .max = 4}, exactly(2)})},
                       with({2}, {1, 2})),
            "eeg_model.pt2: its inputs take different numbers of windows");
}

TEST(SignalProgramTest, RefusesConstantsThatDoNotFit) {
  const ProgramInput x = windows({kAny, exactly(12)});
  const ProgramInput pos = constant({kAny, exactly(2)});
  const std::string key = "eeg_model.json: constant_inputs.pos: ";
  EXPECT_EQ(problem_of({x}, with({2}, {1, 2})), key + "eeg_model.pt2 takes 1 input (x)");
  EXPECT_EQ(problem_of({pos}, with({2}, {1, 2})),
            "eeg_model.pt2: takes 1 input (pos), expected one, the windows, besides those in "
            "constant_inputs");
  EXPECT_EQ(problem_of({x, pos}, with({3}, {1, 2, 3})),
            key + "the program takes [any number, 2], found [3]: expected [2], without the batch");
  EXPECT_EQ(
      problem_of({x, pos}, with({1, 2}, {1, 2})),
      key + "the program takes [any number, 2], found [1, 2]: expected [2], without the batch");
  EXPECT_EQ(problem_of({x, pos}, with({2}, {1, 2, 3})), key + "expected [2] values, found 3");
  EXPECT_EQ(problem_of({x, pos}, with({2}, {1, std::nan("")})),
            key + "value 1: expected a finite number, found nan");
  EXPECT_EQ(problem_of({x, pos}, with({2}, {1e300, 1})).substr(0, key.size() + 33),
            key + "value 0: expected a finite number");
  const auto typed = [&](c10::ScalarType type, double value) {
    return problem_of({x, constant({exactly(1)}, type)}, with({1}, {value}));
  };
  EXPECT_EQ(typed(c10::kLong, 0.5), key + "value 0: expected a whole number, found 0.500000");
  EXPECT_EQ(typed(c10::kInt, 2147483648.0),
            key + "value 0: expected a whole number of 32 bits, found 2147483648.000000");
  EXPECT_EQ(typed(c10::kBool, 2), key + "value 0: expected 0 or 1, found 2.000000");
  EXPECT_EQ(typed(c10::kByte, 1), key + "the program takes Byte, which constants cannot have");
  EXPECT_EQ(problem_of({x, {.name = "pos", .type = {}, .sizes = {}}}, with({2}, {1, 2})),
            key + "the file specifies no shape of this input: export the model with torch.export");
}

}  // namespace
