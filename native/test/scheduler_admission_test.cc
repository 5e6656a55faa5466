// Admission right after a model is loaded, and admission of lists, with a simulated clock.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "several_models_test.h"

namespace scheduler::test {
namespace {

using std::chrono::duration;
using std::chrono::seconds;

/// An input of cost 1.
Text window_input() { return {.text = "w"}; }

/// A signal model whose run time is mostly independent of the batch size.
class SimulatedProgram : public Backend {
 public:
  SimulatedProgram(milliseconds run, std::chrono::microseconds window)
      : run_(run), window_(window) {}
  Description description() const override { return {.max_length = 4, .batching = true}; }
  PreparedPtr prepare(InputPtr input) const override {
    return std::make_shared<Characters>(text_of(input).text);
  }
  PreparedPtr prepare_thread(const AssignedPool& /*pool*/) override {
    return prepare(input_of(window_input()));
  }
  std::vector<Output> run(Batch batch, const scheduler::AssignedPool& /*pool*/) override {
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

/// Preparation of a long text takes half a second.
class SlowTokenizer : public EchoBackend {
 public:
  PreparedPtr prepare(InputPtr input) const override {
    const bool is_long = text_of(input).text.size() > kShortText;
    PreparedPtr prepared = EchoBackend::prepare(std::move(input));
    if (is_long) simulated_time += Clock::duration(milliseconds(500)).count();
    return prepared;
  }
};

/// The run times of small batches do not determine the expected wait behind many requests, neither
/// right after the load nor after single requests.
TEST(AdmissionTest, EstimatesTheWaitFromFullBatches) {
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
        ModelQueue queue(a_scheduler(), program, {.workers = 1, .now = simulated_now},
                         windows.handler());
        uint64_t ticket = 0;
        const auto ask = [&] {
          EXPECT_EQ(submit(queue, ++ticket, window_input(), kNever), Status::kOk);
        };
        for (int i = 0; i < before; ++i) {
          ask();
          windows.of(ticket);
        }
        program->hold(true);
        ask();
        await_queue(queue, 0);  // the request runs
        std::vector<InputPtr> list = inputs_of(std::vector<Text>(behind, window_input()));
        EXPECT_EQ(queue.submit(ticket + 1, std::move(list), kNever).status, Status::kOk);
        ticket += behind;
        const duration<double> expected = queue.statistics().queue_wait;
        ask();
        program->hold(false);
        // The request starts together with its batch, which the estimate counts as being ahead of
        // it.
        const Completion last = windows.of(ticket);
        EXPECT_GT(expected, 0.5 * last.queue_time);
        EXPECT_LT(expected, 2 * (last.queue_time + last.inference_time));
      }
    }
  }
}

/// The order of the texts in a list has no effect: short and long texts have separate queues.
TEST(AdmissionTest, AListWaitsAsLongAsItsSlowerClass) {
  const auto slow = std::make_shared<SlowTokenizer>();
  Collector ended;
  uint64_t ticket = 0;
  const Options options{.workers = 1,
                        .max_queue_wait = seconds(1),
                        .long_input_bytes = kShortText + 1,
                        .now = simulated_now};
  ModelQueue queue(a_scheduler(), slow, options, ended.handler());
  const Text small{.text = "1"}, large{.text = std::string(kShortText, '0') + "1"};
  for (const Text& text : {small, large}) {  // measures both classes
    ASSERT_EQ(submit(queue, ++ticket, text, kNever), Status::kOk);
    ended.of(ticket);
  }
  slow->let_pass(1);
  for (int i = 0; i < 8; ++i) submit(queue, ++ticket, large, kNever);  // 4 s
  for (const auto& list : {std::vector<Text>{small, large}, std::vector<Text>{large, small}}) {
    EXPECT_EQ(queue.submit(ticket + 1, inputs_of(list), kNever).status, Status::kWaitTooLong);
  }
  EXPECT_EQ(queue.submit(ticket + 1, inputs_of({small, small}), kNever).status, Status::kOk);
  EXPECT_EQ(queue.admission(kNever).status, Status::kOk);  // the class of the next input is unknown
  slow->let_pass(SIZE_MAX);
  queue.close();
}

TEST(AdmissionTest, AnEmptyListIsAccepted) {
  Collector ended;
  ModelQueue queue(a_scheduler(), std::make_shared<EchoBackend>(), {}, ended.handler());
  EXPECT_EQ(queue.submit(1, {}, kNever).status, Status::kOk);
  queue.close();
  EXPECT_EQ(ended.size(), 0U);
}

}  // namespace
}  // namespace scheduler::test
