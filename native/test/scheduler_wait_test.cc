// Expected and real queue waits with a simulated clock, on which only runs take time.
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

namespace scheduler::test {
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

/// A model with the run time of an encoder: a constant per batch, a linear and a quadratic part per
/// text. A text has one token per character.
class SimulatedEncoder : public Backend {
 public:
  Description description() const override {
    return {.max_length = 512, .batching = true, .needs_preparation = true};
  }
  PreparedPtr prepare(InputPtr input) const override {
    const auto& text = text_of(input).text;
    if (text.empty()) throw BackendError("nothing to prepare");
    return std::make_shared<Characters>(text);
  }
  PreparedPtr prepare_thread(const AssignedPool& /*pool*/) override {
    return std::make_shared<Characters>(std::string(16, 'x'));
  }
  std::vector<Output> run(Batch batch, const scheduler::AssignedPool& /*pool*/) override {
    duration<double> time = milliseconds(1);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !held_; });
      time += std::exchange(hiccup_, milliseconds(0));
    }
    for (const auto* const input : batch) {
      const auto tokens = static_cast<double>(input->cost());
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

  /// Delays the next run.
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

class WaitEstimateTest : public testing::Test {
 protected:
  void SetUp() override { simulated_time = 0; }

  Options options(Clock::duration max_queue_wait = hours(1)) const {
    return {.workers = 1, .max_queue_wait = max_queue_wait, .now = simulated_now};
  }

  Status submit_text(ModelQueue& queue, size_t tokens, Clock::time_point deadline = kNever) {
    const Status status = submit(queue, next_, Text{.text = std::string(tokens, 'x')}, deadline);
    if (status == Status::kOk) ++next_;
    return status;
  }

  /// Runs all waiting requests. Preparation in the meantime would include the simulated time of the
  /// runs, so the last text fails in preparation.
  void run_all(ModelQueue& queue) {
    submit(queue, next_++, Text{.text = ""}, kNever);
    EXPECT_EQ(ended.of(next_ - 1).status, Status::kFailed);
    release();
  }

  void release() {
    backend->hold(false);
    for (uint64_t ticket = 1; ticket < next_; ++ticket) ended.of(ticket);
    backend->hold(true);
  }

  void run(ModelQueue& queue, int count, size_t tokens) {
    for (int i = 0; i < count; ++i) submit_text(queue, tokens);
    run_all(queue);
  }

  /// Ratio of the expected to the real wait of a text behind `count` other texts.
  double error_behind(ModelQueue& queue, int count, size_t tokens) {
    for (int i = 0; i < count; ++i) submit_text(queue, tokens);
    // The number of tokens is known after preparation.
    submit(queue, next_++, Text{.text = ""}, kNever);
    EXPECT_EQ(ended.of(next_ - 1).status, Status::kFailed);
    const duration<double> expected = queue.statistics().queue_wait;
    const uint64_t last = next_;
    submit_text(queue, tokens);
    run_all(queue);
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

TEST_F(WaitEstimateTest, IsKnownBeforeTheFirstRequest) {
  ModelQueue queue(a_scheduler(), backend, options(), ended.handler());
  backend->hold(true);
  expect_within_a_factor_of_two(error_behind(queue, 500, 16));
}

TEST_F(WaitEstimateTest, FollowsAChangeFromShortToLongTextsAndBack) {
  ModelQueue queue(a_scheduler(), backend, options(), ended.handler());
  backend->hold(true);
  constexpr int kShortTexts = 400;
  constexpr int kLongTexts = 40;
  run(queue, kShortTexts, 20);
  expect_within_a_factor_of_two(error_behind(queue, kShortTexts, 20));
  run(queue, kLongTexts, 500);
  expect_within_a_factor_of_two(error_behind(queue, kLongTexts, 500));
  run(queue, kShortTexts, 20);
  expect_within_a_factor_of_two(error_behind(queue, kShortTexts, 20));
}

TEST_F(WaitEstimateTest, OneSlowRunCausesNoRejections) {
  ModelQueue queue(a_scheduler(), backend, options(seconds(1)), ended.handler());
  backend->hold(true);
  backend->hiccup(milliseconds(500));
  run(queue, 1, 20);
  // They take 0.1 s; at the speed of the slow run they would take 15 s.
  for (int i = 0; i < 50; ++i) EXPECT_EQ(submit_text(queue, 20), Status::kOk);
  EXPECT_LT(queue.statistics().queue_wait, milliseconds(600));
  run_all(queue);
}

TEST_F(WaitEstimateTest, IncludesTheRemainderOfRunningBatches) {
  ModelQueue queue(a_scheduler(), backend, options(), ended.handler());
  backend->hold(true);
  run(queue, 20, 500);
  submit_text(queue, 500);
  while (queue.statistics().queue_requests != 0) std::this_thread::yield();  // the batch runs
  const auto whole = queue.statistics().queue_wait;
  EXPECT_GT(whole.count(), 0);
  simulated_time += whole.count() / 2;
  EXPECT_NEAR(duration<double>(queue.statistics().queue_wait) / whole, 0.5, 0.01);
  simulated_time += 2 * whole.count();  // longer than expected
  EXPECT_EQ(queue.statistics().queue_wait.count(), 0);
  run_all(queue);
}

TEST_F(WaitEstimateTest, IsZeroIfAWorkerIsFree) {
  ModelQueue queue(a_scheduler(), backend, options(), ended.handler());
  backend->hold(true);
  run(queue, 20, 500);
  while (queue.statistics().queue_wait.count() != 0) std::this_thread::yield();
}

TEST_F(WaitEstimateTest, RejectsRequestsWithALongWaitAndReturnsIt) {
  ModelQueue queue(a_scheduler(), backend, options(seconds(1)), ended.handler());
  backend->hold(true);
  run(queue, 100, 20);
  Admission refused;
  do {
    std::vector<InputPtr> text = inputs_of({Text{.text = std::string(20, 'x')}});
    refused = queue.submit(next_, std::move(text), kNever);
    if (refused.status == Status::kOk) ++next_;
  } while (refused.status == Status::kOk);
  EXPECT_EQ(refused.status, Status::kWaitTooLong);
  EXPECT_GT(refused.wait, seconds(1));
  EXPECT_LT(refused.wait, milliseconds(1010));
  EXPECT_GE(queue.statistics().refused, 1U);
  const auto start = simulated_now();
  release();
  // Accepted requests started within about a second.
  expect_within_a_factor_of_two(duration<double>(simulated_now() - start).count());
}

TEST_F(WaitEstimateTest, RejectsRequestsThatCannotStartBeforeTheirDeadline) {
  ModelQueue queue(a_scheduler(), backend, options(), ended.handler());
  backend->hold(true);
  for (int i = 0; i < 100; ++i) submit_text(queue, 20);
  const auto wait = queue.statistics().queue_wait;
  ASSERT_GT(wait, milliseconds(50));
  EXPECT_EQ(queue.admission(simulated_now() + wait / 2).status, Status::kDeadlineTooClose);
  EXPECT_EQ(submit_text(queue, 1, simulated_now() + wait / 2), Status::kDeadlineTooClose);
  EXPECT_EQ(queue.admission(simulated_now() + 2 * wait).status, Status::kOk);
  run_all(queue);
}

TEST_F(WaitEstimateTest, ExpiresDeadlinesInAnyOrder) {
  ModelQueue queue(a_scheduler(), backend, options(), ended.handler());
  backend->hold(true);
  submit_text(queue, 1);
  while (queue.statistics().queue_requests != 0) std::this_thread::yield();  // the batch runs
  submit_text(queue, 1, simulated_now() + hours(1));
  submit_text(queue, 1, simulated_now() + milliseconds(500));
  submit_text(queue, 1);
  simulated_time += duration_cast<Clock::duration>(seconds(1)).count();
  run_all(queue);
  EXPECT_EQ(ended.of(2).status, Status::kOk);
  EXPECT_EQ(ended.of(3).status, Status::kDeadlineExceeded);
  EXPECT_EQ(ended.of(4).status, Status::kOk);
}

TEST_F(WaitEstimateTest, AListIsAcceptedAsAWhole) {
  ModelQueue queue(a_scheduler(), backend,
                   {.workers = 1, .max_queue_requests = 3, .now = simulated_now}, ended.handler());
  backend->hold(true);
  const auto list = [](size_t size) {
    return inputs_of(std::vector<Text>(size, Text{.text = "x"}));
  };
  EXPECT_EQ(queue.submit(100, list(4), kNever).status, Status::kQueueFull);
  EXPECT_EQ(queue.statistics().queue_requests, 0U);
  EXPECT_EQ(queue.submit(200, list(3), kNever).status, Status::kOk);
  backend->hold(false);
  for (uint64_t ticket = 200; ticket < 203; ++ticket) {
    EXPECT_EQ(ended.of(ticket).status, Status::kOk);
  }
  EXPECT_EQ(queue.statistics().refused, 4U);
}

}  // namespace
}  // namespace scheduler::test
