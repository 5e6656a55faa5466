// Hung models: runs over their time limit, and the end of a queue with such runs.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "echo_backend.h"

namespace scheduler::test {
namespace {

/// A short time limit, for runs that must exceed it.
constexpr std::chrono::milliseconds kLimit{20};

/// A simulated clock.
std::atomic<Clock::time_point> test_time{Clock::now()};
Clock::time_point test_clock() { return test_time; }

void await_back(const ModelQueue& queue) {
  while (queue.statistics().hung_for > Clock::duration(0)) std::this_thread::yield();
}

/// The only worker hangs with request 0.
void get_stuck(ModelQueue& queue, EchoBackend& backend, Collector& ended) {
  backend.hold();
  submit(queue, 0, Text{.text = "1"}, kNever);
  EXPECT_EQ(ended.of(0).status, Status::kTimedOut);
}

TEST(Watchdog, ARunOverTheLimitCompletesItsRequestsOnceWithTheLimit) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .run_limit = kLimit}, ended.handler());
  EXPECT_EQ(queue.statistics().hung_for, Clock::duration(0));
  backend->hold();
  submit(queue, 0, Text{.text = "1"}, kNever);
  const Completion hung = ended.of(0);
  EXPECT_EQ(hung.status, Status::kTimedOut);
  EXPECT_EQ(hung.message, "The model ran longer than 20 ms.");
  EXPECT_GE(queue.statistics().hung_for, kLimit);
  backend->release();
  await_back(queue);
  queue.close();
  EXPECT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.repeated(), 0U);
  EXPECT_EQ(queue.statistics().timed_out, 1U);
  EXPECT_EQ(queue.statistics().completed, 0U);
  EXPECT_EQ(queue.statistics().batches, 1U);
}

TEST(Watchdog, AllRequestsOfAHungBatchCompleteAndNoneRunsAgain) {
  auto backend = std::make_shared<EchoBackend>();
  backend->needs_preparation = false;  // waiting requests form one batch
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .run_limit = kLimit}, ended.handler());
  get_stuck(queue, *backend, ended);
  for (uint64_t i = 1; i < 5; ++i) submit(queue, i, Text{.text = i == 2 ? "fail" : "1"}, kNever);
  await_queue(queue, 4);
  backend->let_run();  // the first; the next batch of four is held
  for (uint64_t i = 1; i < 5; ++i) EXPECT_EQ(ended.of(i).status, Status::kTimedOut);
  backend->release();  // the batch fails, but abandoned requests are not run again one by one
  queue.close();
  EXPECT_EQ(backend->sizes(), (std::vector<size_t>{1, 4}));
  EXPECT_EQ(ended.repeated(), 0U);
}

TEST(Watchdog, AHungSingleRerunDoesNotDelayTheOthers) {
  std::vector<Status> seen;
  do {  // repeated if the machine is too slow
    auto backend = std::make_shared<EchoBackend>();
    backend->needs_preparation = false;  // waiting requests form one batch
    Collector ended;
    ModelQueue queue(a_scheduler(), backend, {.workers = 1, .run_limit = kLimit}, ended.handler());
    backend->hold_text("7");
    submit(queue, 0, Text{.text = "7"}, kNever);
    EXPECT_EQ(ended.of(0).status, Status::kTimedOut);
    uint64_t ticket = 0;
    for (const char* text : {"1", "fail", "7", "2"})
      submit(queue, ++ticket, Text{.text = text}, kNever);
    await_queue(queue, 4);
    backend->let_run(2);  // the first and the batch of four
    seen.clear();
    for (uint64_t i = 1; i <= 4; ++i) seen.push_back(ended.of(i).status);
    backend->release();
    queue.close();
    EXPECT_EQ(ended.size(), 5U);
    EXPECT_EQ(ended.repeated(), 0U);
  } while (seen[0] != Status::kOk || seen[1] != Status::kFailed);
  EXPECT_EQ(seen[2], Status::kTimedOut);
  EXPECT_EQ(seen[3], Status::kTimedOut);
}

TEST(Watchdog, OtherWorkersContinueWhileARunHangs) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 2, .run_limit = kLimit}, ended.handler());
  backend->hold_text("7");
  submit(queue, 0, Text{.text = "7"}, kNever);
  EXPECT_EQ(ended.of(0).status, Status::kTimedOut);
  // Some requests complete in time on any machine.
  uint64_t ticket = 1;
  do {
    submit(queue, ticket, Text{.text = "3"}, kNever);
  } while (ended.of(ticket++).status != Status::kOk);
  EXPECT_GT(queue.statistics().hung_for, Clock::duration(0));
  backend->release();
  await_back(queue);
  queue.close();
  EXPECT_EQ(ended.repeated(), 0U);
}

TEST(Watchdog, ARunThatStopsItselfHasTheSameStatus) {
  auto backend = std::make_shared<EchoBackend>();
  backend->needs_preparation = false;  // waiting requests form one batch
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  backend->hold();
  submit(queue, 9, Text{.text = "1"}, kNever);
  backend->await_running(1);
  for (uint64_t i = 0; i < 3; ++i)
    submit(queue, i, Text{.text = i == 1 ? "time out" : "1"}, kNever);
  await_queue(queue, 3);
  backend->release();
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(ended.of(i).status, Status::kTimedOut);
    EXPECT_EQ(ended.of(i).message, "The model ran longer than 60000 ms.");
  }
  EXPECT_EQ(backend->sizes(), (std::vector<size_t>{1, 3}));  // not one by one
}

TEST(Watchdog, CloseDoesNotWaitForHungRuns) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 2, .run_limit = kLimit}, ended.handler());
  backend->hold_text("7");
  submit(queue, 0, Text{.text = "7"}, kNever);
  EXPECT_EQ(ended.of(0).status, Status::kTimedOut);
  for (uint64_t i = 1; i < 20; ++i) submit(queue, i, Text{.text = "1"}, kNever);
  queue.close();
  EXPECT_EQ(ended.size(), 20U);
  EXPECT_FALSE(queue.abort_within(std::chrono::hours(1)));  // does not wait
  backend->release();
  queue.abort();
  EXPECT_TRUE(queue.abort_within(Clock::duration(0)));
  EXPECT_EQ(ended.repeated(), 0U);
}

TEST(Watchdog, AbortWithinAbandonsARunningBatch) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  backend->hold();
  submit(queue, 0, Text{.text = "7"}, kNever);
  backend->await_running(1);
  submit(queue, 1, Text{.text = "1"}, kNever);
  await_queue(queue, 1);
  std::jthread closer([&] { queue.close(); });
  EXPECT_FALSE(queue.abort_within(std::chrono::milliseconds(1)));
  closer.join();  // close() returns as well
  EXPECT_EQ(ended.of(1).status, Status::kDraining);
  backend->release();
  queue.abort();
  EXPECT_EQ(ended.of(0).status, Status::kOk);
}

TEST(Watchdog, DropCompletesWaitingRequestsWhileTheModelHangs) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .run_limit = kLimit}, ended.handler());
  get_stuck(queue, *backend, ended);
  for (uint64_t i = 1; i < 10; ++i) submit(queue, i, Text{.text = "1"}, kNever);
  queue.drop();
  queue.close();
  for (uint64_t i = 1; i < 10; ++i) EXPECT_EQ(ended.of(i).status, Status::kDraining);
  EXPECT_EQ(submit(queue, 10, Text{.text = "1"}, kNever), Status::kDraining);
  backend->release();
}

TEST(Watchdog, DropCompletesRequestsInPreparationWhileTheModelHangs) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .run_limit = kLimit}, ended.handler());
  get_stuck(queue, *backend, ended);
  backend->let_pass(0);
  submit(queue, 1, Text{.text = std::string(kShortText, '0') + "1"}, kNever);
  backend->await_preparing(1);
  queue.drop();
  backend->let_pass(1);
  EXPECT_EQ(ended.of(1).status, Status::kDraining);
  queue.close();
  EXPECT_EQ(queue.statistics().queue_requests, 0U);
  backend->release();
}

TEST(Watchdog, RejectsRequestsIfAllWorkersHang) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(
      a_scheduler(), backend,
      {.workers = 1, .max_queue_wait = std::chrono::milliseconds(1), .run_limit = kLimit},
      ended.handler());
  get_stuck(queue, *backend, ended);
  EXPECT_EQ(submit(queue, 1, Text{.text = "1"}, kNever), Status::kWaitTooLong);
  EXPECT_GE(queue.statistics().queue_wait, kLimit);
  backend->release();
  while (queue.statistics().queue_wait > Clock::duration(0)) std::this_thread::yield();
  EXPECT_EQ(submit(queue, 2, Text{.text = "1"}, kNever), Status::kOk);
}

TEST(Watchdog, ExpiresRequestsWhileAllWorkersHang) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .run_limit = kLimit, .now = test_clock},
                   ended.handler());
  get_stuck(queue, *backend, ended);
  const auto deadline = test_clock() + std::chrono::seconds(30);
  EXPECT_EQ(submit(queue, 1, Text{.text = "1"}, deadline), Status::kOk);
  EXPECT_EQ(submit(queue, 2, Text{.text = "1"}, kNever), Status::kOk);
  test_time = deadline;
  EXPECT_EQ(ended.of(1).status, Status::kDeadlineExceeded);
  EXPECT_EQ(ended.size(), 2U);
  backend->release();
  EXPECT_EQ(ended.of(2).status, Status::kOk);
}

TEST(Watchdog, HungRunsAreNoSpeedSamples) {
  auto backend = std::make_shared<EchoBackend>();
  backend->needs_preparation = false;
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .now = test_clock}, ended.handler());
  backend->hold();
  submit(queue, 0, Text{.text = "time out"}, kNever);
  backend->await_running(1);
  test_time = test_clock() + std::chrono::seconds(60);
  backend->release();
  EXPECT_EQ(ended.of(0).status, Status::kTimedOut);
  submit(queue, 1, Text{.text = "1"}, kNever);
  EXPECT_EQ(ended.of(1).status, Status::kOk);  // the previous batch has ended
  backend->hold();
  submit(queue, 2, Text{.text = "1"}, kNever);
  backend->await_running(3);
  submit(queue, 3, Text{.text = "1"}, kNever);
  EXPECT_EQ(queue.statistics().queue_wait, Clock::duration(0));
  backend->release();
}

}  // namespace
}  // namespace scheduler::test
