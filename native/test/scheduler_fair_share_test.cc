// Several models on one scheduler: fair shares of the workers.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "several_models_test.h"

namespace scheduler::test {
namespace {

class FairShareTest : public SeveralModelsTest {};

TEST_F(FairShareTest, SharesAWorkerByRunTime) {
  Log log;
  first.backend = std::make_shared<TimedBackend>('a', milliseconds(3), log);
  second.backend = std::make_shared<TimedBackend>('b', milliseconds(1), log);
  const Options options{.workers = 1, .now = simulated_now};
  ModelQueue slow(scheduler, first.backend, options, first.ended.handler());
  ModelQueue fast(scheduler, second.backend, options, second.ended.handler());
  first.backend->hold();
  for (int i = 0; i < 40; ++i) first.ask(slow);
  first.backend->await_running(1);
  for (int i = 0; i < 120; ++i) second.ask(fast);
  first.backend->release();
  slow.close();
  fast.close();
  const auto half = log.runs.substr(0, log.runs.size() / 2);
  const auto count = std::ranges::count(half, 'a');
  EXPECT_GE(count, 18);
  EXPECT_LE(count, 22);
}

TEST_F(FairShareTest, SharesAWorkerByWeight) {
  Log log;
  first.backend = std::make_shared<TimedBackend>('a', milliseconds(1), log);
  second.backend = std::make_shared<TimedBackend>('b', milliseconds(1), log);
  const Options options{.workers = 1, .weight = 3, .now = simulated_now};
  ModelQueue large(scheduler, first.backend, options, first.ended.handler());
  ModelQueue small(scheduler, second.backend, {.workers = 1, .now = simulated_now},
                   second.ended.handler());
  first.backend->hold();
  for (int i = 0; i < 120; ++i) first.ask(large);
  first.backend->await_running(1);
  for (int i = 0; i < 120; ++i) second.ask(small);
  first.backend->release();
  large.close();
  small.close();
  const auto count = std::ranges::count(log.runs.substr(0, 120), 'a');
  EXPECT_GE(count, 88) << log.runs;
  EXPECT_LE(count, 92) << log.runs;
  EXPECT_EQ(log.runs.size(), 240U);
}

TEST_F(FairShareTest, SharesAWorkerByChangedWeights) {
  Log log;
  first.backend = std::make_shared<TimedBackend>('a', milliseconds(1), log);
  second.backend = std::make_shared<TimedBackend>('b', milliseconds(1), log);
  const Options options{.workers = 1, .now = simulated_now};
  ModelQueue scaled(scheduler, first.backend, options, first.ended.handler());
  ModelQueue other(scheduler, second.backend, options, second.ended.handler());
  scaled.set_weight(3);
  first.backend->hold();
  for (int i = 0; i < 120; ++i) first.ask(scaled);
  first.backend->await_running(1);
  for (int i = 0; i < 120; ++i) second.ask(other);
  first.backend->release();
  scaled.close();
  other.close();
  const auto count = std::ranges::count(log.runs.substr(0, 120), 'a');
  EXPECT_GE(count, 88) << log.runs;
  EXPECT_LE(count, 92) << log.runs;
}

TEST_F(FairShareTest, AnIdleModelAccumulatesNoCredit) {
  Log log;
  first.backend = std::make_shared<TimedBackend>('a', milliseconds(1), log);
  second.backend = std::make_shared<TimedBackend>('b', milliseconds(1), log);
  const Options options{.workers = 1, .now = simulated_now};
  ModelQueue busy(scheduler, first.backend, options, first.ended.handler());
  ModelQueue idle(scheduler, second.backend, options, second.ended.handler());
  for (int i = 0; i < 50; ++i) first.ended.of(first.ask(busy));
  log.runs.clear();
  first.backend->hold();
  for (int i = 0; i < 20; ++i) first.ask(busy);
  first.backend->await_running(51);
  for (int i = 0; i < 20; ++i) second.ask(idle);
  first.backend->release();
  busy.close();
  idle.close();
  EXPECT_GE(std::ranges::count(log.runs.substr(0, 20), 'a'), 8) << log.runs;
}

TEST_F(FairShareTest, NoModelOccupiesMoreThanItsWorkers) {
  first.backend->batching = false;
  ModelQueue one(scheduler, first.backend, {.workers = 1}, first.ended.handler());
  ModelQueue two(scheduler, second.backend, {.workers = 2}, second.ended.handler());
  first.backend->hold();
  first.ask(one);
  const uint64_t waiting = first.ask(one);
  first.backend->await_running(1);
  EXPECT_EQ(second.ended.of(second.ask(two)).status, Status::kOk);
  EXPECT_EQ(first.backend->begun(), 1U);
  first.backend->release();
  EXPECT_EQ(first.ended.of(waiting).status, Status::kOk);
}

TEST_F(FairShareTest, ConcurrentBatchesUseTheirOwnThreadPools) {
  second.backend->uses_pool = true;
  ModelQueue one(scheduler, first.backend, {.workers = 2}, first.ended.handler());
  ModelQueue two(scheduler, second.backend, {.workers = 2}, second.ended.handler());
  first.backend->hold();
  const uint64_t held = first.ask(one);
  first.backend->await_running(1);
  EXPECT_EQ(second.ended.of(second.ask(two)).status, Status::kOk);
  first.backend->release();
  EXPECT_EQ(first.ended.of(held).status, Status::kOk);
  one.close();
  EXPECT_EQ(second.backend->threads(), (std::vector<int64_t>{1}));
  do {  // until the worker has finished the previous request
    EXPECT_EQ(second.ended.of(second.ask(two)).status, Status::kOk);
  } while (second.backend->threads().back() != 2);
}

TEST_F(FairShareTest, AHungWorkerIsReplacedForOtherModels) {
  ModelQueue stuck(scheduler, first.backend, {.workers = 2, .run_limit = kLimit},
                   first.ended.handler());
  ModelQueue sound(scheduler, second.backend, {.workers = 2}, second.ended.handler());
  first.backend->batching = false;
  first.backend->hold();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(first.ended.of(first.ask(stuck)).status, Status::kTimedOut);
  }
  const uint64_t waiting = first.ask(stuck);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(second.ended.of(second.ask(sound)).status, Status::kOk);
  }
  EXPECT_EQ(first.backend->begun(), 2U);  // a replacement worker does not run the hung model
  EXPECT_GT(stuck.statistics().hung_for, kLimit);
  EXPECT_EQ(sound.statistics().hung_for, Clock::duration(0));
  first.backend->release();
  first.ended.of(waiting);
  stuck.close();
  EXPECT_EQ(second.ended.of(second.ask(sound)).status, Status::kOk);
}

TEST_F(FairShareTest, AModelCanBeLoadedWhileAnotherHangs) {
  ModelQueue stuck(scheduler, first.backend, {.workers = 1, .run_limit = kLimit},
                   first.ended.handler());
  first.backend->hold();
  EXPECT_EQ(first.ended.of(first.ask(stuck)).status, Status::kTimedOut);
  {
    ModelQueue sound(scheduler, second.backend, {.workers = 1}, second.ended.handler());
    EXPECT_EQ(second.ended.of(second.ask(sound)).status, Status::kOk);
    EXPECT_FALSE(stuck.abort_within(Clock::duration(0)));
  }
  first.backend->release();
  stuck.abort();
  EXPECT_EQ(first.ended.repeated(), 0U);
}

TEST_F(FairShareTest, AModelCanBeLoadedWhileAnotherRunsOrIsAbandoned) {
  ModelQueue busy(scheduler, first.backend, {.workers = 2}, first.ended.handler());
  first.backend->hold();
  first.ask(busy);
  first.backend->await_running(1);
  {
    ModelQueue concurrent(scheduler, second.backend, {.workers = 1}, second.ended.handler());
    EXPECT_EQ(second.ended.of(second.ask(concurrent)).status, Status::kOk);
  }
  first.ask(busy);
  first.backend->await_running(2);
  EXPECT_FALSE(busy.abort_within(Clock::duration(0)));
  {
    ModelQueue after(scheduler, second.backend, {.workers = 2}, second.ended.handler());
    EXPECT_EQ(second.ended.of(second.ask(after)).status, Status::kOk);
  }
  first.backend->release();
  busy.abort();
}

TEST_F(FairShareTest, QueuesAreAddedAndRemovedWhileAnotherRuns) {
  ModelQueue lasting(scheduler, first.backend, {.workers = 2}, first.ended.handler());
  std::jthread caller([&](const std::stop_token& stopped) {
    while (!stopped.stop_requested()) {
      EXPECT_EQ(first.ended.of(first.ask(lasting)).status, Status::kOk);
    }
  });
  for (size_t workers = 1; workers <= 4; ++workers) {
    Model passing;
    passing.backend->thread_fails = workers == 3;
    const auto load = [&] {
      return std::make_unique<ModelQueue>(scheduler, passing.backend, Options{.workers = workers},
                                          passing.ended.handler());
    };
    if (passing.backend->thread_fails) {
      EXPECT_THROW(load(), BackendError);
      continue;
    }
    const auto queue = load();
    EXPECT_EQ(passing.ended.of(passing.ask(*queue)).status, Status::kOk);
    queue->close();
  }
}

TEST_F(FairShareTest, TheWaitIncludesCompetingModels) {
  Log log;
  first.backend = std::make_shared<TimedBackend>('a', milliseconds(10), log);
  second.backend = std::make_shared<TimedBackend>('b', milliseconds(10), log);
  const Options options{.workers = 1, .now = simulated_now};
  ModelQueue one(scheduler, first.backend, options, first.ended.handler());
  ModelQueue two(scheduler, second.backend, options, second.ended.handler());
  first.ended.of(first.ask(one));
  second.ended.of(second.ask(two));
  first.backend->hold();
  for (int i = 0; i < 11; ++i) first.ask(one);  // the first runs
  await_queue(one, 10);
  EXPECT_EQ(one.statistics().queue_wait, milliseconds(110));
  for (int i = 0; i < 5; ++i) second.ask(two);
  // Each model gets half of the worker time until the queue of the second is empty.
  EXPECT_EQ(one.statistics().queue_wait, milliseconds(160));
  EXPECT_EQ(two.statistics().queue_wait, milliseconds(100));
  first.backend->release();
  one.close();
}

TEST_F(FairShareTest, TheWaitIncludesCompetingModelsByWeight) {
  Log log;
  first.backend = std::make_shared<TimedBackend>('a', milliseconds(10), log);
  second.backend = std::make_shared<TimedBackend>('b', milliseconds(10), log);
  const Options options{.workers = 1, .weight = 2, .now = simulated_now};
  ModelQueue large(scheduler, first.backend, options, first.ended.handler());
  ModelQueue small(scheduler, second.backend, {.workers = 1, .now = simulated_now},
                   second.ended.handler());
  first.ended.of(first.ask(large));
  second.ended.of(second.ask(small));
  first.backend->hold();
  for (int i = 0; i < 13; ++i) first.ask(large);  // the first runs
  await_queue(large, 12);
  for (int i = 0; i < 5; ++i) second.ask(small);
  // The large model needs 130 ms, in which the small one completes its 50 ms; within those the
  // large one gets 100.
  EXPECT_EQ(large.statistics().queue_wait, milliseconds(180));
  EXPECT_EQ(small.statistics().queue_wait, milliseconds(150));
  first.backend->release();
  large.close();
}

}  // namespace
}  // namespace scheduler::test
