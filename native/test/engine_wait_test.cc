// How long the queue thinks that a request would wait, against how long it does, by a clock of the
// test's own: a run takes what the test says, and nothing else takes time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "echo_backend.h"

namespace engine::test {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::atomic<Clock::duration::rep> simulated_time{0};

Clock::time_point simulated_now() {
  return Clock::time_point(hours(1) + Clock::duration(simulated_time.load()));
}

/// Tokens of a text: its length. Like an encoder: something for each batch, something for each
/// token, and for long texts attention.
class SimulatedEncoder : public Backend {
 public:
  Description description() const override {
    return {.max_length = 512, .batching = true, .needs_preparation = true};
  }
  Sequence prepare(Input input) const override {
    const auto& text = std::get<Text>(input).text;
    if (text.empty()) throw BackendError("nothing to prepare");
    Sequence sequence;
    sequence.input_ids.assign(text.size(), 1);
    return sequence;
  }
  std::optional<Sequence> prepare_thread(const gemm::LentPool& /*pool*/) override {
    return Sequence{.input_ids = std::vector<int64_t>(16), .token_type_ids = {}, .samples = {}};
  }
  std::vector<Output> run(Batch batch, const gemm::LentPool& /*pool*/) override {
    duration<double> time = milliseconds(1);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !held_; });
      time += std::exchange(hiccup_, milliseconds(0));
    }
    for (const auto* const sequence : batch) {
      const auto tokens = static_cast<double>(sequence->input_ids.size());
      time += duration<double>(tokens * 100e-6 * (1 + tokens / 256));
    }
    simulated_time += duration_cast<Clock::duration>(time).count();
    return std::vector<Output>(batch.size(), Output{.values = {1}});
  }

  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

  /// The next run takes so much longer.
  void hiccup(milliseconds time) {
    const std::lock_guard lock(mutex_);
    hiccup_ = time;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  milliseconds hiccup_{0};
  bool held_ = false;
};

/// A long text takes half a second.
class SlowTokenizer : public SimulatedEncoder {
 public:
  Sequence prepare(Input input) const override {
    Sequence sequence = SimulatedEncoder::prepare(input);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_; });
    if (sequence.input_ids.size() > 100) {
      simulated_time += Clock::duration(milliseconds(500)).count();
    }
    return sequence;
  }
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool held_ = false;
};

class EngineWaitTest : public testing::Test {
 protected:
  void SetUp() override { simulated_time = 0; }

  Options options(Clock::duration max_queue_wait = hours(1)) const {
    return {.workers = 1, .max_queue_wait = max_queue_wait, .now = simulated_now};
  }

  Status submit_text(Engine& engine, size_t tokens, Clock::time_point deadline = kNever) {
    const Status status = submit(engine, next_, Text{.text = std::string(tokens, 'x')}, deadline);
    if (status == Status::kOk) ++next_;
    return status;
  }

  /// Lets all that waits run. What is prepared meanwhile would be charged with the time of the
  /// runs, so nothing is: a text that fails to be prepared is the last.
  void run_all(Engine& engine) {
    submit(engine, next_++, Text{.text = ""}, kNever);
    EXPECT_EQ(ended.of(next_ - 1).status, Status::kFailed);
    release();
  }

  void release() {
    backend->hold(false);
    for (uint64_t ticket = 1; ticket < next_; ++ticket) ended.of(ticket);
    backend->hold(true);
  }

  void run(Engine& engine, int count, size_t tokens) {
    for (int i = 0; i < count; ++i) submit_text(engine, tokens);
    run_all(engine);
  }

  /// Expected wait of a text behind `count` others, in units of its real one.
  double error_behind(Engine& engine, int count, size_t tokens) {
    for (int i = 0; i < count; ++i) submit_text(engine, tokens);
    // How many tokens a text has is known once it is prepared.
    submit(engine, next_++, Text{.text = ""}, kNever);
    EXPECT_EQ(ended.of(next_ - 1).status, Status::kFailed);
    const duration<double> expected = engine.statistics().queue_wait;
    const uint64_t last = next_;
    submit_text(engine, tokens);
    run_all(engine);
    return expected / ended.of(last).queue_time;
  }

  std::shared_ptr<SimulatedEncoder> backend = std::make_shared<SimulatedEncoder>();
  Collector ended;
  uint64_t next_ = 1;
};

void expect_within_a_factor_of_two(double error) {
  EXPECT_GT(error, 0.5);
  EXPECT_LT(error, 2);
}

TEST_F(EngineWaitTest, IsKnownBeforeTheFirstRequest) {
  Engine engine(a_machine(), backend, options(), ended.handler());
  backend->hold(true);
  expect_within_a_factor_of_two(error_behind(engine, 500, 16));
}

/// Windows of signals: every run takes a while, however few windows share it.
class SimulatedProgram : public Backend {
 public:
  SimulatedProgram(milliseconds run, std::chrono::microseconds window)
      : run_(run), window_(window) {}
  Description description() const override { return {.max_length = 4, .batching = true}; }
  Sequence prepare(Input input) const override {
    return {.input_ids = {}, .token_type_ids = {}, .samples = std::get<std::vector<float>>(input)};
  }
  std::optional<Sequence> prepare_thread(const gemm::LentPool& /*pool*/) override {
    return prepare(std::vector<float>(4));
  }
  std::vector<Output> run(Batch batch, const gemm::LentPool& /*pool*/) override {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !held_; });
    }
    const Clock::duration time = run_ + window_ * static_cast<int>(batch.size());
    simulated_time += time.count();
    return std::vector<Output>(batch.size(), Output{.values = {1}});
  }
  void hold(bool held) {
    const std::lock_guard lock(mutex_);
    held_ = held;
    changed_.notify_all();
  }

 private:
  const Clock::duration run_, window_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
};

/// What small batches take says nothing of the wait behind many requests: neither right after the
/// load, nor when requests have come one by one so far.
TEST_F(EngineWaitTest, FollowsFromFullBatchesWhatASingleWindowTakes) {
  const std::pair<milliseconds, std::chrono::microseconds> programs[] = {
      {milliseconds(0), std::chrono::microseconds(900)},
      {milliseconds(3), std::chrono::microseconds(100)},
      {milliseconds(10), std::chrono::microseconds(10)},
      {milliseconds(40), std::chrono::microseconds(1)}};
  for (const auto& [run, window] : programs) {
    for (const int before : {0, 1, 1'000}) {
      for (const size_t behind : {1, 2, 10, 64, 65, 300, 1'500}) {
        SCOPED_TRACE(testing::Message() << run.count() << " ms and " << window.count() << " us, "
                                        << before << ", " << behind);
        const auto program = std::make_shared<SimulatedProgram>(run, window);
        Collector windows;
        Engine engine(a_machine(), program, options(), windows.handler());
        uint64_t ticket = 0;
        const auto ask = [&] {
          EXPECT_EQ(submit(engine, ++ticket, std::vector<float>(4), kNever), Status::kOk);
        };
        for (int i = 0; i < before; ++i) {
          ask();
          windows.of(ticket);
        }
        program->hold(true);
        ask();
        await_queue(engine, 0);  // it runs
        std::vector<Input> list(behind, std::vector<float>(4));
        EXPECT_EQ(engine.submit(ticket + 1, std::move(list), kNever).status, Status::kOk);
        ticket += behind;
        const duration<double> expected = engine.statistics().queue_wait;
        ask();
        program->hold(false);
        // It begins with its batch, which is counted as one before it.
        const Completion last = windows.of(ticket);
        EXPECT_GT(expected, 0.5 * last.queue_time);
        EXPECT_LT(expected, 2 * (last.queue_time + last.inference_time));
      }
    }
  }
}

TEST_F(EngineWaitTest, FollowsAChangeFromShortTextsToLongOnesAndBack) {
  Engine engine(a_machine(), backend, options(), ended.handler());
  backend->hold(true);
  constexpr int kShortTexts = 400;
  constexpr int kLongTexts = 40;
  run(engine, kShortTexts, 20);
  expect_within_a_factor_of_two(error_behind(engine, kShortTexts, 20));
  run(engine, kLongTexts, 500);
  expect_within_a_factor_of_two(error_behind(engine, kLongTexts, 500));
  run(engine, kShortTexts, 20);
  expect_within_a_factor_of_two(error_behind(engine, kShortTexts, 20));
}

TEST_F(EngineWaitTest, IsNotLedAstrayByOneRunThatLostItsCore) {
  Engine engine(a_machine(), backend, options(seconds(1)), ended.handler());
  backend->hold(true);
  backend->hiccup(milliseconds(500));
  run(engine, 1, 20);
  // They take 0.1 s; at the pace of that run it would be 15.
  for (int i = 0; i < 50; ++i) EXPECT_EQ(submit_text(engine, 20), Status::kOk);
  EXPECT_LT(engine.statistics().queue_wait, milliseconds(600));
  run_all(engine);
}

TEST_F(EngineWaitTest, CountsWhatRunsByWhatIsLeftOfIt) {
  Engine engine(a_machine(), backend, options(), ended.handler());
  backend->hold(true);
  run(engine, 20, 500);
  submit_text(engine, 500);
  while (engine.statistics().queue_requests != 0) std::this_thread::yield();  // it runs
  const auto whole = engine.statistics().queue_wait;
  EXPECT_GT(whole.count(), 0);
  simulated_time += whole.count() / 2;
  EXPECT_NEAR(duration<double>(engine.statistics().queue_wait) / whole, 0.5, 0.01);
  simulated_time += 2 * whole.count();  // longer than expected: it may end at any moment
  EXPECT_EQ(engine.statistics().queue_wait.count(), 0);
  run_all(engine);
}

TEST_F(EngineWaitTest, IsNothingWhereAWorkerIsFree) {
  Engine engine(a_machine(), backend, options(), ended.handler());
  backend->hold(true);
  run(engine, 20, 500);
  while (engine.statistics().queue_wait.count() != 0) std::this_thread::yield();
}

TEST_F(EngineWaitTest, RefusesWhatWouldWaitTooLongAndSaysHowLong) {
  Engine engine(a_machine(), backend, options(seconds(1)), ended.handler());
  backend->hold(true);
  run(engine, 100, 20);
  Admission refused;
  do {
    std::vector<Input> text{Text{.text = std::string(20, 'x')}};
    refused = engine.submit(next_, std::move(text), kNever);
    if (refused.status == Status::kOk) ++next_;
  } while (refused.status == Status::kOk);
  EXPECT_EQ(refused.status, Status::kWaitTooLong);
  EXPECT_GT(refused.wait, seconds(1));
  EXPECT_LT(refused.wait, milliseconds(1010));
  EXPECT_GE(engine.statistics().refused, 1U);
  const auto start = simulated_now();
  release();
  // Whoever was let in began to run in about a second.
  expect_within_a_factor_of_two(duration<double>(simulated_now() - start).count());
}

TEST_F(EngineWaitTest, RefusesWhatCouldNotBeginBeforeItsDeadline) {
  Engine engine(a_machine(), backend, options(), ended.handler());
  backend->hold(true);
  for (int i = 0; i < 100; ++i) submit_text(engine, 20);
  const auto wait = engine.statistics().queue_wait;
  ASSERT_GT(wait, milliseconds(50));
  EXPECT_EQ(engine.admission(simulated_now() + wait / 2).status, Status::kDeadlineTooClose);
  EXPECT_EQ(submit_text(engine, 1, simulated_now() + wait / 2), Status::kDeadlineTooClose);
  EXPECT_EQ(engine.admission(simulated_now() + 2 * wait).status, Status::kOk);
  run_all(engine);
}

TEST_F(EngineWaitTest, DropsDeadlinesInWhateverOrderTheyCome) {
  Engine engine(a_machine(), backend, options(), ended.handler());
  backend->hold(true);
  submit_text(engine, 1);
  while (engine.statistics().queue_requests != 0) std::this_thread::yield();  // it runs
  submit_text(engine, 1, simulated_now() + hours(1));
  submit_text(engine, 1, simulated_now() + milliseconds(500));
  submit_text(engine, 1);
  simulated_time += duration_cast<Clock::duration>(seconds(1)).count();
  run_all(engine);
  EXPECT_EQ(ended.of(2).status, Status::kOk);
  EXPECT_EQ(ended.of(3).status, Status::kDeadlineExceeded);
  EXPECT_EQ(ended.of(4).status, Status::kOk);
}

/// In whatever order its texts come: short ones and long ones wait in lines of their own.
TEST_F(EngineWaitTest, AListWaitsAsLongAsTheSlowerOfItsLanes) {
  auto slow = std::make_shared<SlowTokenizer>();
  Options settings = options(seconds(1));
  settings.long_input_bytes = 100;
  Engine engine(a_machine(), slow, settings, ended.handler());
  const Text small{.text = std::string(10, 'x')}, large{.text = std::string(1'000, 'x')};
  for (const Text& text : {small, large}) {  // how long each takes
    ASSERT_EQ(submit(engine, next_++, text, kNever), Status::kOk);
    ended.of(next_ - 1);
  }
  slow->hold(true);
  for (int i = 0; i < 8; ++i) submit(engine, next_++, large, kNever);  // 4 s
  for (const auto& list : {std::vector<Input>{small, large}, std::vector<Input>{large, small}}) {
    EXPECT_EQ(engine.submit(next_, list, kNever).status, Status::kWaitTooLong);
  }
  EXPECT_EQ(engine.submit(next_, {small, small}, kNever).status, Status::kOk);
  next_ += 2;
  EXPECT_EQ(engine.admission(kNever).status, Status::kOk);  // of what is not known yet
  slow->hold(false);
  engine.close();
}

TEST_F(EngineWaitTest, AnEmptyListIsNoRequest) {
  Engine engine(a_machine(), backend, options(), ended.handler());
  EXPECT_EQ(engine.submit(1, {}, kNever).status, Status::kOk);
  engine.close();
  EXPECT_EQ(ended.size(), 0U);
}

TEST_F(EngineWaitTest, AListIsTakenWholeOrNotAtAll) {
  Engine engine(a_machine(), backend, {.workers = 1, .max_queue_requests = 3, .now = simulated_now},
                ended.handler());
  backend->hold(true);
  const auto list = [](size_t size) { return std::vector<Input>(size, Text{.text = "x"}); };
  EXPECT_EQ(engine.submit(100, list(4), kNever).status, Status::kQueueFull);
  EXPECT_EQ(engine.statistics().queue_requests, 0U);
  EXPECT_EQ(engine.submit(200, list(3), kNever).status, Status::kOk);
  backend->hold(false);
  for (uint64_t ticket = 200; ticket < 203; ++ticket) {
    EXPECT_EQ(ended.of(ticket).status, Status::kOk);
  }
  EXPECT_EQ(engine.statistics().refused, 4U);
}

}  // namespace
}  // namespace engine::test
