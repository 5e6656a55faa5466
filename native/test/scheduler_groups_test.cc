// Queues that share batches, because their backends accept each other's inputs.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "several_models_test.h"

namespace scheduler::test {
namespace {

class GroupsTest : public SeveralModelsTest {
 protected:
  GroupsTest() {
    for (Model* model : {&first, &second}) {
      model->backend->needs_preparation = false;  // requests are ready when they are submitted
      model->backend->run_group = this;
    }
    other.backend->needs_preparation = false;
  }

  /// Occupies the only worker with a request of `other` until release().
  void occupy(ModelQueue& queue) {
    other.backend->hold();
    other.ask(queue);
    other.backend->await_running(1);
  }

  const Options options{.workers = 1, .max_batch_requests = 4};
  Model other;  ///< not in the group
};

TEST_F(GroupsTest, ABatchHasTheReadyRequestsOfTheGroup) {
  ModelQueue a(scheduler, first.backend, options, first.ended.handler());
  ModelQueue b(scheduler, second.backend, options, second.ended.handler());
  ModelQueue c(scheduler, other.backend, options, other.ended.handler());
  occupy(c);
  for (const char* text : {"1", "22", "333"}) {
    first.ask(a, text);
    second.ask(b, text);
    other.ask(c, text);
  }
  other.backend->release();
  for (ModelQueue* queue : {&a, &b, &c}) queue->close();
  // Together the first two models have one batch.
  EXPECT_EQ(first.backend->begun() + second.backend->begun(), 1U);
  EXPECT_EQ(other.backend->sizes(), (std::vector<size_t>{1, 3}));
  for (Model* model : {&first, &second}) {
    for (uint64_t ticket = 1; ticket <= 3; ++ticket) {
      const Completion ended = model->ended.of(ticket);
      EXPECT_EQ(ended.status, Status::kOk);
      EXPECT_EQ(ended.output.values.back(), static_cast<float>(ticket));
      EXPECT_EQ(ended.batch_size, 3U);
      EXPECT_EQ(ended.batch_tokens, ticket == 1 ? 6U : 0U);
    }
    EXPECT_EQ(model->ended.size(), 3U);
    EXPECT_EQ(model->ended.repeated(), 0U);
  }
  for (const ModelQueue* queue : {&a, &b}) {
    EXPECT_EQ(queue->statistics().completed, 3U);
    EXPECT_EQ(queue->statistics().batches, 1U);
    EXPECT_EQ(queue->statistics().queue_requests, 0U);
    EXPECT_EQ(queue->statistics().queue_bytes, 0U);
  }
}

/// Requests for other texts count towards the limits of the batch.
TEST_F(GroupsTest, TheLimitsCountDifferentInputs) {
  ModelQueue a(scheduler, first.backend, options, first.ended.handler());
  ModelQueue b(scheduler, second.backend, options, second.ended.handler());
  ModelQueue c(scheduler, other.backend, options, other.ended.handler());
  occupy(c);
  for (const char* text : {"1", "2", "3"}) first.ask(a, text);
  for (const char* text : {"2", "4", "5", "3", "3"}) second.ask(b, text);
  other.backend->release();
  for (ModelQueue* queue : {&a, &b, &c}) queue->close();
  // 1 2 3, then 2 for the second time and 4; there is no room for 5.
  std::vector<size_t> sizes = first.backend->sizes();
  for (const size_t size : second.backend->sizes()) sizes.push_back(size);
  EXPECT_EQ(sizes, (std::vector<size_t>{5, 3}));
  EXPECT_EQ(second.ended.size(), 5U);
}

TEST_F(GroupsTest, AFailedRequestDoesNotFailRequestsOfOtherQueues) {
  ModelQueue a(scheduler, first.backend, options, first.ended.handler());
  ModelQueue b(scheduler, second.backend, options, second.ended.handler());
  ModelQueue c(scheduler, other.backend, options, other.ended.handler());
  occupy(c);
  first.ask(a, "1");
  second.ask(b, "fail");
  second.ask(b, "1");
  other.backend->release();
  for (ModelQueue* queue : {&a, &b, &c}) queue->close();
  EXPECT_EQ(first.ended.of(1).status, Status::kOk);
  EXPECT_EQ(second.ended.of(1).status, Status::kFailed);
  EXPECT_EQ(second.ended.of(1).message, "cannot be run");
  EXPECT_EQ(second.ended.of(2).status, Status::kOk);
  EXPECT_EQ(a.statistics().failed, 0U);
  EXPECT_EQ(b.statistics().failed, 1U);
}

TEST_F(GroupsTest, AHungBatchTimesOutTheRequestsOfAllItsQueues) {
  const Options limited{.workers = 1, .run_limit = kLimit};
  ModelQueue a(scheduler, first.backend, limited, first.ended.handler());
  ModelQueue b(scheduler, second.backend, limited, second.ended.handler());
  ModelQueue c(scheduler, other.backend, options, other.ended.handler());
  occupy(c);
  for (Model* model : {&first, &second}) model->backend->hold();
  first.ask(a);
  second.ask(b);
  other.backend->release();
  for (Model* model : {&first, &second}) {
    EXPECT_EQ(model->ended.of(1).status, Status::kTimedOut);
  }
  for (const ModelQueue* queue : {&a, &b}) {
    EXPECT_GE(queue->statistics().hung_for, kLimit);
    EXPECT_EQ(queue->statistics().timed_out, 1U);
  }
  EXPECT_FALSE(b.abort_within(milliseconds(1)));
  for (Model* model : {&first, &second}) model->backend->release();
  for (const ModelQueue* queue : {&a, &b}) {
    while (queue->statistics().hung_for > Clock::duration(0)) std::this_thread::yield();
  }
  for (Model* model : {&first, &second}) EXPECT_EQ(model->ended.repeated(), 0U);
}

/// A queue leaves the group while another one runs its requests, and the group goes on.
TEST_F(GroupsTest, AQueueEndsAfterTheBatchOfAnotherQueueThatHasItsRequests) {
  ModelQueue a(scheduler, first.backend, options, first.ended.handler());
  auto b = std::make_unique<ModelQueue>(scheduler, second.backend, options, second.ended.handler());
  ModelQueue c(scheduler, other.backend, options, other.ended.handler());
  occupy(c);
  for (Model* model : {&first, &second}) model->backend->hold();
  first.ask(a);
  second.ask(*b);
  other.backend->release();
  while (first.backend->begun() + second.backend->begun() == 0) std::this_thread::yield();
  std::jthread aborter([&] { b.reset(); });
  first.ask(a);
  for (Model* model : {&first, &second}) model->backend->release();
  aborter.join();
  EXPECT_EQ(second.ended.of(1).status, Status::kOk);
  EXPECT_EQ(first.ended.of(1).status, Status::kOk);
  EXPECT_EQ(first.ended.of(2).status, Status::kOk);
}

TEST_F(GroupsTest, RequestsPastTheirDeadlineAreNotAdded) {
  simulated_time = 0;
  const Options timed{.workers = 1, .now = simulated_now};
  ModelQueue a(scheduler, first.backend, timed, first.ended.handler());
  ModelQueue b(scheduler, second.backend, timed, second.ended.handler());
  ModelQueue c(scheduler, other.backend, timed, other.ended.handler());
  occupy(c);
  first.ask(a);
  EXPECT_EQ(submit(b, 1, Text{.text = "1"}, simulated_now() + milliseconds(5)), Status::kOk);
  simulated_time += Clock::duration(milliseconds(10)).count();
  other.backend->release();
  EXPECT_EQ(first.ended.of(1).status, Status::kOk);
  EXPECT_EQ(second.ended.of(1).status, Status::kDeadlineExceeded);
}

/// Threads submit to two queues of a group, cancel and read statistics: every request ends once.
TEST_F(GroupsTest, EveryRequestEndsOnceUnderLoad) {
  constexpr uint64_t kRequests = 400;
  for (Model* model : {&first, &second}) model->backend->needs_preparation = true;
  const Options several{.workers = 3, .max_batch_requests = 8};
  ModelQueue a(scheduler, first.backend, several, first.ended.handler());
  ModelQueue b(scheduler, second.backend, several, second.ended.handler());
  const auto load = [](ModelQueue& queue) {
    for (uint64_t i = 0; i < kRequests; ++i) {
      const std::string text = i % 50 == 7 ? "fail" : std::to_string(i % 20);
      EXPECT_EQ(submit(queue, i, Text{.text = text}, kNever), Status::kOk);
      if (i % 9 == 0) queue.cancel(i);
      if (i % 30 == 0) queue.statistics();
    }
    queue.close();
  };
  {
    const std::jthread of_a(load, std::ref(a)), of_b(load, std::ref(b));
  }
  for (Model* model : {&first, &second}) {
    EXPECT_EQ(model->ended.size(), kRequests);
    EXPECT_EQ(model->ended.repeated(), 0U);
    for (uint64_t i = 0; i < kRequests; ++i) {
      const Completion ended = model->ended.of(i);
      if (ended.status == Status::kCancelled) continue;
      EXPECT_EQ(ended.status, i % 50 == 7 ? Status::kFailed : Status::kOk) << i;
      if (ended.status == Status::kOk) {
        EXPECT_EQ(ended.output.values.front(), static_cast<float>(i % 20));
      }
    }
  }
}

}  // namespace
}  // namespace scheduler::test
