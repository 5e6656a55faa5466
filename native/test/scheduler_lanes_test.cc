// Inputs that take long to prepare, and the short ones beside them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "echo_backend.h"

namespace scheduler::test {
namespace {

/// A long text whose answer is {7, its length}.
Text long_text() { return Text{.text = std::string(kShortText, '0') + "7"}; }

class EngineLanesTest : public testing::Test {
 protected:
  /// The thread for long inputs is inside prepare() with the request `ticket`, and done with those
  /// before it.
  void occupy_long_lane(Engine& engine, uint64_t ticket) {
    backend->let_pass(long_texts);
    ASSERT_EQ(submit(engine, ticket, long_text(), kNever), Status::kOk);
    backend->await_preparing(++long_texts);
  }

  std::shared_ptr<EchoBackend> backend = std::make_shared<EchoBackend>();
  Collector ended;
  size_t long_texts = 0;
  const Options options{.workers = 1, .max_batch_requests = 1, .long_input_bytes = kShortText + 1};
};

TEST_F(EngineLanesTest, ALongInputDoesNotHoldUpShortOnes) {
  Engine engine(a_machine(), backend, options, ended.handler());
  occupy_long_lane(engine, 0);
  for (uint64_t i = 1; i <= 20; ++i) submit(engine, i, Text{.text = "1"}, kNever);
  for (uint64_t i = 1; i <= 20; ++i) EXPECT_EQ(ended.of(i).status, Status::kOk);
  EXPECT_EQ(ended.size(), 20U);
  backend->let_pass(SIZE_MAX);
  EXPECT_EQ(ended.of(0).output.values, (std::vector<float>{7, kShortText + 1}));
}

TEST_F(EngineLanesTest, ShortOnesKeepTheirOrder) {
  Engine engine(a_machine(), backend, options, ended.handler());
  occupy_long_lane(engine, 0);
  std::vector<uint64_t> expected;
  for (uint64_t i = 1; i <= 50; ++i) {
    submit(engine, i, Text{.text = "1"}, kNever);
    expected.push_back(i);
  }
  for (const uint64_t i : expected) ended.of(i);
  EXPECT_EQ(ended.order(), expected);
  backend->let_pass(SIZE_MAX);
}

TEST_F(EngineLanesTest, OnceItIsPreparedALongInputHasThePlaceOfItsArrival) {
  Engine engine(a_machine(), backend, options, ended.handler());
  backend->hold();
  submit(engine, 0, Text{.text = "0"}, kNever);
  backend->await_running(1);
  occupy_long_lane(engine, 1);
  submit(engine, 2, Text{.text = "2"}, kNever);
  submit(engine, 3, Text{.text = "untokenizable"}, kNever);
  EXPECT_EQ(ended.of(3).status, Status::kFailed);  // so 2 is prepared
  occupy_long_lane(engine, 4);                     // so 1 is prepared
  backend->release();
  ended.of(2);
  EXPECT_EQ(ended.order(), (std::vector<uint64_t>{3, 0, 1, 2}));
  backend->let_pass(SIZE_MAX);
}

TEST_F(EngineLanesTest, LongOnesThatWaitExpireAndAreCancelled) {
  Engine engine(a_machine(), backend, options, ended.handler());
  occupy_long_lane(engine, 0);
  submit(engine, 1, long_text(), Clock::now() - std::chrono::seconds(1));
  submit(engine, 2, long_text(), kNever);
  engine.cancel(2);
  EXPECT_EQ(ended.of(2).status, Status::kCancelled);
  backend->let_pass(SIZE_MAX);
  EXPECT_EQ(ended.of(1).status, Status::kDeadlineExceeded);
  EXPECT_EQ(ended.of(0).status, Status::kOk);
}

/// Whatever its preparation comes to.
TEST_F(EngineLanesTest, WhatIsCancelledWhileItIsPreparedDoesNotRun) {
  const std::string filling(kShortText, '0');
  for (const bool fails : {false, true}) {
    for (const size_t border : {size_t{1}, size_t{1'000}}) {  // a long input, and a short one
      auto slow = std::make_shared<EchoBackend>();
      slow->fails_once_prepared = fails;
      Collector of_slow;
      Engine engine(a_machine(), slow, {.workers = 1, .long_input_bytes = border},
                    of_slow.handler());
      slow->let_pass(0);
      submit(engine, 0, Text{.text = filling + "1"}, kNever);
      slow->await_preparing(1);
      engine.cancel(0);
      engine.cancel(7);  // nobody's
      submit(engine, 1, Text{.text = filling + "2"}, kNever);
      slow->let_pass(SIZE_MAX);
      ASSERT_TRUE(of_slow.has(0));
      EXPECT_EQ(of_slow.of(0).status, Status::kCancelled);
      EXPECT_EQ(of_slow.of(0).message, "");
      EXPECT_EQ(of_slow.of(1).status, fails ? Status::kFailed : Status::kOk);
      engine.close();
      EXPECT_EQ(slow->begun(), fails ? 0U : 1U);
      EXPECT_EQ(of_slow.repeated(), 0U);
      EXPECT_EQ(engine.statistics().cancelled, 1U);
      EXPECT_EQ(engine.statistics().queue_requests, 0U);
      EXPECT_EQ(engine.statistics().queue_bytes, 0U);
    }
  }
}

/// A tokenizer that does not come back, in both lanes.
TEST_F(EngineLanesTest, ASlowTokenizerDelaysItsOwnModelOnly) {
  const auto machine = a_machine();
  Engine slow(machine, backend, options, ended.handler());
  auto other = std::make_shared<EchoBackend>();
  Collector of_other;
  Engine fast(machine, other, options, of_other.handler());
  backend->let_pass(0);
  // In the lane for long inputs, and in the one for short ones.
  Engine slow_as_well(machine, backend, {.workers = 1, .long_input_bytes = 1'000}, ended.handler());
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

TEST_F(EngineLanesTest, CloseAnswersTheLongOnesToo) {
  Engine engine(a_machine(), backend, options, ended.handler());
  occupy_long_lane(engine, 0);
  submit(engine, 1, long_text(), kNever);
  std::jthread closer([&] { engine.close(); });
  while (submit(engine, 9, Text{.text = "1"}, kNever) != Status::kDraining)
    std::this_thread::yield();
  backend->let_pass(SIZE_MAX);
  closer.join();
  EXPECT_EQ(ended.of(0).status, Status::kOk);
  EXPECT_EQ(ended.of(1).status, Status::kOk);
}

TEST_F(EngineLanesTest, AbortDropsTheLongOnesThatWaitAndThatWhichIsPrepared) {
  Engine engine(a_machine(), backend, options, ended.handler());
  occupy_long_lane(engine, 0);
  submit(engine, 1, long_text(), kNever);
  std::jthread aborter([&] { engine.abort(); });
  EXPECT_EQ(ended.of(1).status, Status::kDraining);
  backend->let_pass(SIZE_MAX);
  aborter.join();
  EXPECT_EQ(ended.of(0).status, Status::kDraining);
  EXPECT_EQ(ended.repeated(), 0U);
}

}  // namespace
}  // namespace scheduler::test
