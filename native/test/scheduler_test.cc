// A queue with one model: batches, limits, deadlines, errors.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "echo_backend.h"

namespace scheduler::test {
namespace {

class ModelQueueTest : public testing::Test {
 protected:
  /// Blocks a worker inside run() with the request `ticket` until release().
  void occupy_worker(ModelQueue& queue, uint64_t ticket) {
    backend->hold();
    ASSERT_EQ(submit(queue, ticket, Text{.text = "0"}, kNever), Status::kOk);
    backend->await_running(1);
  }

  std::shared_ptr<EchoBackend> backend = std::make_shared<EchoBackend>();
  Collector ended;
};

TEST_F(ModelQueueTest, EveryRequestGetsItsOwnOutputFromManyThreads) {
  constexpr size_t kThreads = 4;
  constexpr size_t kEach = 500;
  ModelQueue queue(a_scheduler(), backend,
                   {.workers = 3, .max_batch_tokens = 40, .max_queue_requests = 10000},
                   ended.handler());
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = t * kEach; i < (t + 1) * kEach; ++i) {
          ASSERT_EQ(submit(queue, i, Text{.text = std::to_string(i)}, kNever), Status::kOk);
        }
      });
    }
  }
  queue.close();
  ASSERT_EQ(ended.size(), kThreads * kEach);
  EXPECT_EQ(ended.repeated(), 0U);
  for (size_t i = 0; i < kThreads * kEach; ++i) {
    const Completion completion = ended.of(i);
    ASSERT_EQ(completion.status, Status::kOk);
    EXPECT_EQ(
        completion.output.values,
        (std::vector<float>{static_cast<float>(i), static_cast<float>(std::to_string(i).size())}));
  }
  EXPECT_EQ(queue.statistics().completed, kThreads * kEach);
}

/// The first of two free workers takes half of the queue; a small queue is not split.
TEST_F(ModelQueueTest, SplitsTheQueueAmongWorkers) {
  backend->needs_preparation = false;  // requests are ready without preparation
  ModelQueue queue(a_scheduler(), backend, {.workers = 2, .max_batch_tokens = 1024},
                   ended.handler());
  occupy_worker(queue, 100);
  submit(queue, 101, Text{.text = "0"}, kNever);
  backend->await_running(2);
  const std::string text = std::string(63, '0') + "1";  // 64 tokens
  ASSERT_EQ(queue.submit(0, inputs_of(std::vector<Text>(12, Text{.text = text})), kNever).status,
            Status::kOk);
  backend->release();
  queue.close();
  std::vector<size_t> sizes = backend->sizes();
  std::ranges::sort(sizes);
  EXPECT_EQ(sizes, (std::vector<size_t>{1, 1, 2, 4, 6}));
}

TEST_F(ModelQueueTest, BatchesUpToTheTokenLimit) {
  backend->needs_preparation = false;  // requests are ready without preparation
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_batch_tokens = 8}, ended.handler());
  occupy_worker(queue, 100);
  for (uint64_t i = 0; i < 5; ++i) submit(queue, i, Text{.text = "111"}, kNever);  // 3 tokens each
  backend->release();
  queue.close();
  EXPECT_EQ(backend->sizes(), (std::vector<size_t>{1, 2, 2, 1}));
}

TEST_F(ModelQueueTest, ASingleBatchUsesAllCores) {
  backend->needs_preparation = false;
  backend->uses_pool = true;
  ModelQueue queue(a_scheduler(), backend, {.workers = 2, .threads_per_worker = 2},
                   ended.handler());
  occupy_worker(queue, 1);
  submit(queue, 2, Text{.text = "2"}, kNever);  // concurrently with the first
  backend->await_running(2);
  backend->release();
  ended.of(1);
  ended.of(2);
  queue.close();
  EXPECT_EQ(backend->threads(), (std::vector<int64_t>{4, 2}));
}

TEST_F(ModelQueueTest, ThreadPoolsAreReassignedWhenBatchesStartAndEnd) {
  using Threads = std::vector<int64_t>;
  backend->needs_preparation = false;
  backend->uses_pool = true;
  ModelQueue queue(a_scheduler(), backend, {.workers = 2, .threads_per_worker = 2},
                   ended.handler());
  occupy_worker(queue, 1);
  EXPECT_EQ(backend->threads_now(), (Threads{4}));
  submit(queue, 2, Text{.text = "2"}, kNever);
  backend->await_running(2);
  EXPECT_EQ(backend->threads_now(), (Threads{2, 2}));
  backend->let_run(1);
  Threads now;
  do {  // until the worker has finished it
    now = backend->threads_now();
    std::ranges::sort(now);
  } while (now != Threads{0, 4});
  backend->release();
  ended.of(1);
  ended.of(2);
}

TEST_F(ModelQueueTest, ABatchUsesItsOwnPoolWhileRequestsWait) {
  backend->uses_pool = true;
  ModelQueue queue(a_scheduler(), backend, {.workers = 2, .long_input_bytes = kShortText + 1},
                   ended.handler());
  backend->let_pass(0);
  submit(queue, 1, Text{.text = std::string(kShortText, '0') + "1"}, kNever);
  backend->await_preparing(1);
  submit(queue, 2, Text{.text = "2"}, kNever);
  EXPECT_EQ(ended.of(2).status, Status::kOk);
  backend->let_pass(1);
  EXPECT_EQ(ended.of(1).status, Status::kOk);
  EXPECT_EQ(backend->threads().front(), 1);
}

TEST_F(ModelQueueTest, ARequestOverTheTokenLimitRunsAlone) {
  backend->needs_preparation = false;  // requests are ready without preparation
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_batch_tokens = 4}, ended.handler());
  occupy_worker(queue, 100);
  submit(queue, 1, Text{.text = "1"}, kNever);
  submit(queue, 2, Text{.text = "222222222"}, kNever);
  submit(queue, 3, Text{.text = "3"}, kNever);
  backend->release();
  queue.close();
  EXPECT_EQ(backend->sizes(), (std::vector<size_t>{1, 1, 1, 1}));
  EXPECT_EQ(ended.of(2).output.values.at(1), 9.0F);
}

TEST_F(ModelQueueTest, BatchesUpToTheRequestLimit) {
  backend->needs_preparation = false;  // requests are ready without preparation
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_batch_requests = 2},
                   ended.handler());
  occupy_worker(queue, 100);
  for (uint64_t i = 0; i < 3; ++i) submit(queue, i, Text{.text = "1"}, kNever);
  backend->release();
  queue.close();
  EXPECT_EQ(backend->sizes(), (std::vector<size_t>{1, 2, 1}));
}

TEST_F(ModelQueueTest, AModelWithoutBatchingRunsEachRequestAlone) {
  backend->needs_preparation = false;  // requests are ready without preparation
  backend->batching = false;
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  occupy_worker(queue, 100);
  for (uint64_t i = 0; i < 3; ++i) submit(queue, i, Text{.text = "1"}, kNever);
  backend->release();
  queue.close();
  EXPECT_EQ(backend->sizes(), (std::vector<size_t>{1, 1, 1, 1}));
}

TEST_F(ModelQueueTest, WaitsForFurtherRequestsForTheQueueDelay) {
  ModelQueue queue(
      a_scheduler(), backend,
      {.workers = 1, .max_batch_requests = 2, .max_queue_delay = std::chrono::hours(1)},
      ended.handler());
  submit(queue, 1, Text{.text = "1"}, kNever);
  submit(queue, 2, Text{.text = "2"}, kNever);  // fills the batch, which ends the wait
  EXPECT_EQ(ended.of(1).batch_size, 2U);
  EXPECT_EQ(ended.of(2).batch_size, 2U);
}

TEST_F(ModelQueueTest, DoesNotWaitForFurtherRequestsPastADeadline) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_queue_delay = std::chrono::hours(1)},
                   ended.handler());
  submit(queue, 1, Text{.text = "1"}, Clock::now() + std::chrono::milliseconds(20));
  EXPECT_EQ(ended.of(1).status, Status::kDeadlineExceeded);
}

TEST_F(ModelQueueTest, RejectsRequestsIfTheQueueIsFull) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_queue_requests = 2},
                   ended.handler());
  occupy_worker(queue, 100);
  EXPECT_EQ(submit(queue, 1, Text{.text = "1"}, kNever), Status::kOk);
  EXPECT_EQ(submit(queue, 2, Text{.text = "2"}, kNever), Status::kOk);
  EXPECT_EQ(submit(queue, 3, Text{.text = "3"}, kNever), Status::kQueueFull);
  backend->release();
  queue.close();
  EXPECT_EQ(ended.size(), 3U);
  EXPECT_EQ(queue.statistics().refused, 1U);
}

TEST_F(ModelQueueTest, LimitsTheBytesOfWaitingInputs) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_queue_bytes = 4}, ended.handler());
  occupy_worker(queue, 100);
  EXPECT_EQ(submit(queue, 1, Text{.text = "111111"}, kNever),
            Status::kOk);  // a single request is always accepted
  EXPECT_EQ(submit(queue, 2, Text{.text = "2"}, kNever), Status::kQueueFull);
  backend->release();
}

TEST_F(ModelQueueTest, ExpiresRequestsPastTheirDeadline) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  occupy_worker(queue, 100);
  submit(queue, 1, Text{.text = "1"}, Clock::now() - std::chrono::seconds(1));
  submit(queue, 2, Text{.text = "2"}, kNever);
  backend->release();
  EXPECT_EQ(ended.of(1).status, Status::kDeadlineExceeded);
  EXPECT_EQ(ended.of(2).status, Status::kOk);
  queue.close();
  EXPECT_EQ(backend->sizes(), (std::vector<size_t>{1, 1}));
  EXPECT_EQ(queue.statistics().expired, 1U);
}

TEST_F(ModelQueueTest, RemovesACancelledRequestFromTheQueue) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_queue_requests = 1},
                   ended.handler());
  occupy_worker(queue, 100);
  submit(queue, 1, Text{.text = "1"}, kNever);
  // Requests are cancelled before or after tokenization, never during it.
  do {
    queue.cancel(1);
  } while (ended.size() == 0);
  EXPECT_EQ(ended.of(1).status, Status::kCancelled);
  EXPECT_EQ(submit(queue, 2, Text{.text = "2"}, kNever), Status::kOk);
  queue.cancel(77);  // unknown ticket: no effect
  backend->release();
  queue.close();
  EXPECT_EQ(ended.size(), 3U);
}

TEST_F(ModelQueueTest, AFailingRequestDoesNotFailItsBatch) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  occupy_worker(queue, 100);
  submit(queue, 1, Text{.text = "1"}, kNever);
  submit(queue, 2, Text{.text = "fail"}, kNever);
  submit(queue, 3, Text{.text = "fail oddly"}, kNever);
  submit(queue, 4, Text{.text = "untokenizable"}, kNever);
  submit(queue, 5, Text{.text = "5"}, kNever);
  await_queue(queue, 4);
  backend->release();
  EXPECT_EQ(ended.of(1).output.values.at(0), 1.0F);
  EXPECT_EQ(ended.of(2).status, Status::kFailed);
  EXPECT_EQ(ended.of(2).message, "cannot be run");
  EXPECT_EQ(ended.of(3).message, "unknown error");
  EXPECT_EQ(ended.of(4).message, "cannot be tokenized");
  EXPECT_EQ(ended.of(5).output.values.at(0), 5.0F);
  EXPECT_EQ(queue.statistics().failed, 3U);
}

TEST_F(ModelQueueTest, ATooLongInputDoesNotFailItsBatch) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  auto inputs = inputs_of({{.text = "1"}, {.text = "2", .must_fit = true}, {.text = "3"}});
  EXPECT_EQ(queue.submit(1, std::move(inputs), kNever).status, Status::kOk);
  EXPECT_EQ(ended.of(2).status, Status::kTooLong);
  EXPECT_EQ(ended.of(2).message, "has too many tokens");
  EXPECT_EQ(ended.of(1).output.values.at(0), 1.0F);
  EXPECT_EQ(ended.of(3).output.values.at(0), 3.0F);
  const Statistics statistics = queue.statistics();
  EXPECT_EQ(statistics.too_long, 1U);
  EXPECT_EQ(statistics.failed, 0U);
  EXPECT_EQ(statistics.queue_requests, 0U);
  EXPECT_EQ(statistics.queue_bytes, 0U);
}

TEST_F(ModelQueueTest, BothTextsOfAPairCountTowardsTheLimitOfTheQueue) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_queue_bytes = 10}, ended.handler());
  occupy_worker(queue, 100);
  EXPECT_EQ(submit(queue, 1, Text{.text = "1", .pair = "22222"}, kNever), Status::kOk);
  EXPECT_EQ(queue.statistics().queue_bytes, 6U);
  EXPECT_EQ(submit(queue, 2, Text{.text = "1", .pair = "22222"}, kNever), Status::kQueueFull);
  backend->release();
}

TEST_F(ModelQueueTest, DoesNotRunAnInputWhoseResponseIsItsPreparation) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  submit(queue, 1, Text{.text = "1234", .needs_run = false}, kNever);
  const Completion prepared = ended.of(1);
  EXPECT_EQ(prepared.status, Status::kOk);
  EXPECT_TRUE(prepared.output.values.empty());
  EXPECT_EQ(text_of(prepared.input.get()), "1234");
  submit(queue, 2, Text{.text = "1234"}, kNever);
  EXPECT_EQ(ended.of(2).output.values, (std::vector<float>{1234, 4}));
  const Statistics statistics = queue.statistics();
  EXPECT_EQ(statistics.completed, 2U);
  EXPECT_EQ(statistics.batches, 1U);
  EXPECT_EQ(statistics.queue_requests, 0U);
}

}  // namespace
}  // namespace scheduler::test
