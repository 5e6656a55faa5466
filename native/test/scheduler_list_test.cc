// Lists of texts that are one request: limits and counters count their texts.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "echo_backend.h"

namespace scheduler::test {
namespace {

class ListTest : public testing::Test {
 protected:
  std::shared_ptr<EchoBackend> backend = std::make_shared<EchoBackend>();
  Collector ended;
};

TEST_F(ListTest, TheQueueCapacityCountsTexts) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_queue_requests = 4},
                   ended.handler());
  backend->hold();
  submit(queue, 0, Text{.text = "1"}, kNever);
  backend->await_running(1);
  EXPECT_EQ(submit(queue, 1, Text{.text = "1", .count = 5}, kNever), Status::kQueueFull);
  EXPECT_EQ(submit(queue, 1, Text{.text = "1", .count = 3}, kNever), Status::kOk);
  EXPECT_EQ(queue.statistics().queue_requests, 3U);
  EXPECT_EQ(submit(queue, 2, Text{.text = "1", .count = 2}, kNever), Status::kQueueFull);
  EXPECT_EQ(submit(queue, 2, Text{.text = "1"}, kNever), Status::kOk);
  EXPECT_EQ(queue.statistics().refused, 7U);
  backend->release();
  ended.of(1);
  ended.of(2);
  queue.close();
  EXPECT_EQ(queue.statistics().queue_requests, 0U);
  EXPECT_EQ(queue.statistics().completed, 5U);
}

TEST_F(ListTest, ABatchHasAtMostTheMaximumNumberOfTexts) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1, .max_batch_requests = 4},
                   ended.handler());
  backend->hold();
  submit(queue, 0, Text{.text = "1"}, kNever);
  backend->await_running(1);
  const std::vector<size_t> counts{3, 1, 2, 9, 1};
  for (size_t i = 0; i < counts.size(); ++i) {
    submit(queue, i + 1, Text{.text = "1", .count = counts[i]}, kNever);
  }
  backend->release();
  const std::vector<size_t> sizes{4, 4, 2, 9, 1};
  for (size_t i = 0; i < counts.size(); ++i) {
    const Completion completion = ended.of(i + 1);
    EXPECT_EQ(completion.count, counts[i]);
    EXPECT_EQ(completion.batch_size, sizes[i]);
  }
}

TEST_F(ListTest, ACancelledListCountsItsTexts) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  backend->hold();
  submit(queue, 0, Text{.text = "1"}, kNever);
  backend->await_running(1);
  submit(queue, 1, Text{.text = "1", .count = 3}, kNever);
  queue.cancel(1);
  EXPECT_EQ(ended.of(1).status, Status::kCancelled);
  EXPECT_EQ(ended.of(1).count, 3U);
  EXPECT_EQ(queue.statistics().cancelled, 3U);
  EXPECT_EQ(queue.statistics().queue_requests, 0U);
  backend->release();
}

TEST_F(ListTest, AnErrorHasTheIndexOfItsText) {
  ModelQueue queue(a_scheduler(), backend, {.workers = 1}, ended.handler());
  submit(queue, 0, Text{.text = "second untokenizable", .count = 2}, kNever);
  submit(queue, 1, Text{.text = "untokenizable"}, kNever);
  EXPECT_EQ(ended.of(0).status, Status::kFailed);
  EXPECT_EQ(ended.of(0).element, 1U);
  EXPECT_EQ(ended.of(1).status, Status::kFailed);
  EXPECT_FALSE(ended.of(1).element.has_value());
  EXPECT_EQ(queue.statistics().failed, 3U);
}

}  // namespace
}  // namespace scheduler::test
