// Tokenization classes: long inputs do not delay short ones.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "echo_backend.h"

namespace scheduler::test {
namespace {

/// A long text with the output {7, its length}.
Text long_text() { return Text{.text = std::string(kShortText, '0') + "7"}; }

class TokenizationClassTest : public testing::Test {
 protected:
  /// Blocks the tokenization thread of long inputs inside prepare() with the request `ticket`,
  /// after all earlier ones.
  void block_long_inputs(ModelQueue& queue, uint64_t ticket) {
    backend->let_pass(long_texts);
    ASSERT_EQ(submit(queue, ticket, long_text(), kNever), Status::kOk);
    backend->await_preparing(++long_texts);
  }

  std::shared_ptr<EchoBackend> backend = std::make_shared<EchoBackend>();
  Collector ended;
  size_t long_texts = 0;
  const Options options{.workers = 1, .max_batch_requests = 1, .long_input_bytes = kShortText + 1};
};

TEST_F(TokenizationClassTest, ALongInputDoesNotDelayShortOnes) {
  ModelQueue queue(a_scheduler(), backend, options, ended.handler());
  block_long_inputs(queue, 0);
  for (uint64_t i = 1; i <= 20; ++i) submit(queue, i, Text{.text = "1"}, kNever);
  for (uint64_t i = 1; i <= 20; ++i) EXPECT_EQ(ended.of(i).status, Status::kOk);
  EXPECT_EQ(ended.size(), 20U);
  backend->let_pass(SIZE_MAX);
  EXPECT_EQ(ended.of(0).output.values, (std::vector<float>{7, kShortText + 1}));
}

TEST_F(TokenizationClassTest, ShortInputsKeepTheirOrder) {
  ModelQueue queue(a_scheduler(), backend, options, ended.handler());
  block_long_inputs(queue, 0);
  std::vector<uint64_t> expected;
  for (uint64_t i = 1; i <= 50; ++i) {
    submit(queue, i, Text{.text = "1"}, kNever);
    expected.push_back(i);
  }
  for (const uint64_t i : expected) ended.of(i);
  EXPECT_EQ(ended.order(), expected);
  backend->let_pass(SIZE_MAX);
}

TEST_F(TokenizationClassTest, APreparedLongInputKeepsItsOrderOfArrival) {
  ModelQueue queue(a_scheduler(), backend, options, ended.handler());
  backend->hold();
  submit(queue, 0, Text{.text = "0"}, kNever);
  backend->await_running(1);
  block_long_inputs(queue, 1);
  submit(queue, 2, Text{.text = "2"}, kNever);
  submit(queue, 3, Text{.text = "untokenizable"}, kNever);
  EXPECT_EQ(ended.of(3).status, Status::kFailed);  // then 2 is prepared
  block_long_inputs(queue, 4);                     // then 1 is prepared
  backend->release();
  ended.of(2);
  EXPECT_EQ(ended.order(), (std::vector<uint64_t>{3, 0, 1, 2}));
  backend->let_pass(SIZE_MAX);
}

TEST_F(TokenizationClassTest, WaitingLongInputsExpireAndAreCancelled) {
  ModelQueue queue(a_scheduler(), backend, options, ended.handler());
  block_long_inputs(queue, 0);
  submit(queue, 1, long_text(), Clock::now() - std::chrono::seconds(1));
  submit(queue, 2, long_text(), kNever);
  queue.cancel(2);
  EXPECT_EQ(ended.of(2).status, Status::kCancelled);
  backend->let_pass(SIZE_MAX);
  EXPECT_EQ(ended.of(1).status, Status::kDeadlineExceeded);
  EXPECT_EQ(ended.of(0).status, Status::kOk);
}

/// A request that is cancelled during preparation completes as kCancelled at once, and is not run.
TEST_F(TokenizationClassTest, ARequestCancelledDuringTokenizationIsNotRun) {
  const std::string filling(kShortText, '0');
  for (const bool fails : {false, true}) {
    for (const size_t border : {size_t{1}, size_t{1'000}}) {  // a long and a short input
      auto slow = std::make_shared<EchoBackend>();
      slow->fails_once_prepared = fails;
      Collector of_slow;
      ModelQueue queue(a_scheduler(), slow, {.workers = 1, .long_input_bytes = border},
                       of_slow.handler());
      slow->let_pass(0);
      submit(queue, 0, Text{.text = filling + "1"}, kNever);
      slow->await_preparing(1);
      queue.cancel(0);
      queue.cancel(7);  // unknown ticket
      ASSERT_TRUE(of_slow.has(0));
      EXPECT_EQ(queue.statistics().queue_requests, 0U);
      submit(queue, 1, Text{.text = filling + "2"}, kNever);
      slow->let_pass(SIZE_MAX);
      EXPECT_EQ(of_slow.of(0).status, Status::kCancelled);
      EXPECT_EQ(of_slow.of(0).message, "");
      EXPECT_EQ(of_slow.of(1).status, fails ? Status::kFailed : Status::kOk);
      queue.close();
      EXPECT_EQ(slow->begun(), fails ? 0U : 1U);
      EXPECT_EQ(of_slow.repeated(), 0U);
      EXPECT_EQ(queue.statistics().cancelled, 1U);
      EXPECT_EQ(queue.statistics().queue_requests, 0U);
      EXPECT_EQ(queue.statistics().queue_bytes, 0U);
    }
  }
}

/// A hung tokenizer in both classes.
TEST_F(TokenizationClassTest, ASlowTokenizerDelaysItsOwnModelOnly) {
  const auto scheduler = a_scheduler();
  ModelQueue slow(scheduler, backend, options, ended.handler());
  auto other = std::make_shared<EchoBackend>();
  Collector of_other;
  ModelQueue fast(scheduler, other, options, of_other.handler());
  backend->let_pass(0);
  // In the class of long inputs, then in the class of short ones.
  ModelQueue slow_as_well(scheduler, backend, {.workers = 1, .long_input_bytes = 1'000},
                          ended.handler());
  submit(slow, 0, long_text(), kNever);
  submit(slow_as_well, 1, long_text(), kNever);
  backend->await_preparing(2);
  submit(fast, 0, Text{.text = "1"}, kNever);
  submit(fast, 1, long_text(), kNever);
  EXPECT_TRUE(of_other.has(0));
  EXPECT_TRUE(of_other.has(1));
  backend->let_pass(SIZE_MAX);
  EXPECT_EQ(ended.of(0).status, Status::kOk);
  EXPECT_EQ(ended.of(1).status, Status::kOk);
}

/// Further threads tokenize while inputs wait, up to the number of workers.
TEST_F(TokenizationClassTest, ThreadsAreAddedWhileInputsWait) {
  constexpr size_t kWorkers = 3;
  ModelQueue queue(a_scheduler(), backend, {.workers = kWorkers, .long_input_bytes = 1'000},
                   ended.handler());
  // The first input takes 20 ms: the speed is known then.
  backend->let_pass(0);
  submit(queue, 0, long_text(), kNever);
  backend->await_preparing(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  backend->let_pass(1);
  EXPECT_EQ(ended.of(0).status, Status::kOk);
  for (uint64_t i = 1; i <= 10; ++i) submit(queue, i, long_text(), kNever);
  backend->await_preparing(1 + kWorkers);  // at the same time
  EXPECT_EQ(backend->preparing(), 1 + kWorkers);
  backend->let_pass(SIZE_MAX);
  for (uint64_t i = 1; i <= 10; ++i) EXPECT_EQ(ended.of(i).status, Status::kOk);
  queue.close();
  EXPECT_EQ(ended.repeated(), 0U);
}

/// A preparation over the time limit completes its request, and does not delay the inputs behind
/// it.
TEST_F(TokenizationClassTest, AHungPreparationTimesOutAndAnotherThreadContinues) {
  constexpr std::chrono::milliseconds kLimit{20};
  ModelQueue queue(a_scheduler(), backend,
                   {.workers = 1, .long_input_bytes = 1'000, .run_limit = kLimit}, ended.handler());
  backend->let_pass(0);
  submit(queue, 0, long_text(), kNever);
  submit(queue, 1, Text{.text = "1"}, kNever);
  EXPECT_EQ(ended.of(0).status, Status::kTimedOut);
  EXPECT_EQ(ended.of(1).status, Status::kOk);
  EXPECT_GE(queue.statistics().hung_for, kLimit);
  EXPECT_EQ(queue.statistics().batches, 1U);
  queue.close();  // does not wait for the hung thread
  backend->let_pass(SIZE_MAX);
  queue.abort();
  EXPECT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended.repeated(), 0U);
  EXPECT_EQ(queue.statistics().timed_out, 1U);
}

TEST_F(TokenizationClassTest, CloseFinishesLongInputs) {
  ModelQueue queue(a_scheduler(), backend, options, ended.handler());
  block_long_inputs(queue, 0);
  submit(queue, 1, long_text(), kNever);
  std::jthread closer([&] { queue.close(); });
  while (submit(queue, 9, Text{.text = "1"}, kNever) != Status::kDraining)
    std::this_thread::yield();
  backend->let_pass(SIZE_MAX);
  closer.join();
  EXPECT_EQ(ended.of(0).status, Status::kOk);
  EXPECT_EQ(ended.of(1).status, Status::kOk);
}

TEST_F(TokenizationClassTest, AbortDropsWaitingLongInputsAndTheOneInPreparation) {
  ModelQueue queue(a_scheduler(), backend, options, ended.handler());
  block_long_inputs(queue, 0);
  submit(queue, 1, long_text(), kNever);
  std::jthread aborter([&] { queue.abort(); });
  EXPECT_EQ(ended.of(1).status, Status::kDraining);
  backend->let_pass(SIZE_MAX);
  aborter.join();
  EXPECT_EQ(ended.of(0).status, Status::kDraining);
  EXPECT_EQ(ended.repeated(), 0U);
}

}  // namespace
}  // namespace scheduler::test
