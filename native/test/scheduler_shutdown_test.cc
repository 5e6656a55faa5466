// End of a queue: drained, aborted, destroyed, or never used.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "echo_backend.h"

namespace scheduler::test {
namespace {

TEST(Shutdown, CloseFinishesAcceptedRequestsAndRejectsNewOnes) {
  auto backend = std::make_shared<EchoBackend>();
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 2}, ended.handler());
  backend->hold();
  for (uint64_t i = 0; i < 100; ++i) submit(queue, i, Text{.text = "1"}, kNever);
  std::jthread closer([&] { queue.close(); });
  while (submit(queue, 1000, Text{.text = "1"}, kNever) != Status::kDraining)
    std::this_thread::yield();
  backend->release();
  closer.join();
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(ended.of(i).status, Status::kOk);
  EXPECT_EQ(submit(queue, 1001, Text{.text = "1"}, kNever), Status::kDraining);
  queue.close();  // no effect
}

TEST(Shutdown, AbortFinishesTheRunningBatchAndDropsWaitingRequests) {
  auto backend = std::make_shared<EchoBackend>();
  backend->needs_preparation = false;  // a request in preparation would still run
  Collector ended;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  backend->hold();
  submit(queue, 0, Text{.text = "7"}, kNever);
  backend->await_running(1);
  for (uint64_t i = 1; i < 10; ++i) submit(queue, i, Text{.text = "1"}, kNever);
  await_queue(queue, 9);
  std::jthread aborter([&] { queue.abort(); });
  for (uint64_t i = 1; i < 10; ++i) EXPECT_EQ(ended.of(i).status, Status::kDraining);
  backend->release();
  aborter.join();
  EXPECT_EQ(ended.of(0).status, Status::kOk);
  EXPECT_EQ(ended.repeated(), 0U);
}

TEST(Shutdown, TheDestructorCompletesEveryRequest) {
  Collector ended;
  size_t accepted = 0;
  {
    ModelQueue queue(a_scheduler(), std::make_shared<EchoBackend>(), {.workers = 2},
                     ended.handler());
    for (uint64_t i = 0; i < 500; ++i) {
      accepted += submit(queue, i, Text{.text = "1"}, kNever) == Status::kOk;
    }
  }
  EXPECT_EQ(ended.size(), accepted);
}

TEST(Shutdown, AFailedWarmUpFailsTheConstructor) {
  auto backend = std::make_shared<EchoBackend>();
  backend->thread_fails = true;
  Collector ended;
  try {
    const ModelQueue queue(a_scheduler(), backend, {.workers = 2}, ended.handler());
    FAIL() << "the constructor returned";
  } catch (const BackendError& error) {
    EXPECT_STREQ(error.what(), "thread cannot be prepared");
  }
}

}  // namespace
}  // namespace scheduler::test
