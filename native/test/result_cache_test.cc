// The result cache: equal outputs, the size limit, and single computation.
#include "scheduler/result_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "echo_backend.h"
#include "scheduler/siphash.h"

namespace scheduler::test {
namespace {

constexpr size_t kMegabyte = size_t{1024} * 1024;

/// Test vectors of the reference implementation: key 00 01 … 0f, message 00 01 …, by length in
/// words.
TEST(SipHash128, MatchesTheReferenceImplementation) {
  const struct {
    size_t words;
    SipHash128::Hash hash;
  } expected[] = {{0, {0xe6a825ba047f81a3, 0x930255c71472f66d}},
                  {1, {0x61f55862baa9623b, 0xb49714f364e2830f}},
                  {2, {0xbb54b067caa4e26e, 0x77052385bf1533fd}},
                  {3, {0xd850bd78ae79b42d, 0xad32618a178a2a88}},
                  {8, {0x3fcdd4c07d07af1e, 0x4ba75836384dad8c}}};
  constexpr uint64_t kFirst = 0x0706050403020100;
  constexpr uint64_t kStep = 0x0808080808080808;
  for (const auto& [words, hash] : expected) {
    SipHash128 computed({kFirst, kFirst + kStep});
    for (size_t i = 0; i < words; ++i) computed.add(kFirst + i * kStep);
    EXPECT_EQ(computed.finish(), hash) << words;
  }
}

TEST(ResultCache, HasADifferentKeyForEachInputAndModel) {
  ResultCache cache(kMegabyte);
  const auto model = cache.add_model();
  const auto other = cache.add_model();
  const std::vector<Characters> different{Characters("123"), Characters("12"), Characters("120"),
                                          Characters("321")};
  std::vector<ResultCache::Key> keys{cache.key_of(*other, different.front())};
  for (const Characters& each : different) keys.push_back(cache.key_of(*model, each));
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
  EXPECT_EQ(cache.key_of(*model, different.front()), cache.key_of(*model, different.front()));
  // Keys depend on the secret of the cache.
  ResultCache elsewhere(kMegabyte);
  EXPECT_NE(elsewhere.key_of(*elsewhere.add_model(), different.front()),
            cache.key_of(*model, different.front()));
}

TEST(ResultCache, KeepsTheMostRecentlyUsedOutputsWithinItsLimit) {
  constexpr size_t kBytes = kMegabyte / 64;
  ResultCache cache(kBytes);
  const auto model = cache.add_model();
  const Output output{.values = std::vector<float>(256, 1)};
  const auto key = [&](int64_t i) { return cache.key_of(*model, Characters(std::to_string(i))); };
  for (int64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(cache.claim(key(i)).is_own);
    cache.publish(*model, key(i), output);
    EXPECT_NE(cache.find(key(0)), nullptr);
    EXPECT_LE(model->bytes, kBytes);
  }
  EXPECT_NE(cache.find(key(99)), nullptr);
  EXPECT_EQ(cache.find(key(1)), nullptr);
  EXPECT_GT(model->bytes, kBytes / 2);
  // Larger than the cache.
  EXPECT_TRUE(cache.claim(key(1000)).is_own);
  cache.publish(*model, key(1000), {.values = std::vector<float>(kBytes)});
  EXPECT_EQ(cache.find(key(1000)), nullptr);
  EXPECT_TRUE(cache.claim(key(1000)).is_own);
  cache.remove(*model);
  EXPECT_EQ(model->bytes, 0U);
  EXPECT_EQ(cache.find(key(99)), nullptr);
}

TEST(ResultCache, KeepsTheFirstOfTwoOutputsForTheSameInput) {
  ResultCache cache(kMegabyte);
  const auto model = cache.add_model();
  const auto key = cache.key_of(*model, Characters("1"));
  EXPECT_TRUE(cache.claim(key).is_own);
  EXPECT_FALSE(cache.claim(key).is_own);
  cache.publish(*model, key, {.values = {1}});
  const size_t bytes = model->bytes;
  cache.publish(*model, key, {.values = {1}});
  cache.release(key);
  EXPECT_EQ(model->bytes, bytes);
  EXPECT_EQ(cache.claim(key).output->values, std::vector<float>{1});
}

class ResultCacheQueueTest : public testing::Test {
 protected:
  std::unique_ptr<ModelQueue> engine_with(size_t workers) {
    return std::make_unique<ModelQueue>(
        a_scheduler(), backend, Options{.workers = workers, .results = results}, ended.handler());
  }

  std::shared_ptr<ResultCache> results =
      std::make_shared<ResultCache>(kMegabyte, std::chrono::hours(1));
  std::shared_ptr<EchoBackend> backend = std::make_shared<EchoBackend>();
  Collector ended;
};

TEST_F(ResultCacheQueueTest, EqualTextsRunOnce) {
  const auto queue = engine_with(1);
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_EQ(submit(*queue, i, Text{.text = "17"}, kNever), Status::kOk);
    const Completion completion = ended.of(i);
    EXPECT_EQ(completion.status, Status::kOk);
    EXPECT_EQ(completion.output.values, (std::vector<float>{17, 2}));
    EXPECT_EQ(completion.batch_size, i == 0 ? 1U : 0U);
    EXPECT_EQ(completion.input->cost(), 2U);
  }
  submit(*queue, 10, Text{.text = "18"}, kNever);
  EXPECT_EQ(ended.of(10).output.values, (std::vector<float>{18, 2}));
  const Statistics statistics = queue->statistics();
  EXPECT_EQ(statistics.cache_hits, 9U);
  EXPECT_EQ(statistics.cache_misses, 2U);
  EXPECT_GT(statistics.cache_bytes, 0U);
  EXPECT_EQ(statistics.completed, 11U);
  EXPECT_EQ(backend->begun(), 2U);
}

TEST_F(ResultCacheQueueTest, EqualTextsInFlightRunOnce) {
  const auto queue = engine_with(2);
  backend->hold();
  submit(*queue, 0, Text{.text = "17"}, kNever);
  backend->await_running(1);
  submit(*queue, 1, Text{.text = "17"}, kNever);
  await_queue(*queue, 0);  // the other worker waits for the output of the first
  backend->release();
  for (uint64_t i = 0; i < 2; ++i) EXPECT_EQ(ended.of(i).output.values[0], 17);
  EXPECT_EQ(queue->statistics().cache_misses, 1U);
  EXPECT_EQ(queue->statistics().cache_hits, 1U);
}

TEST_F(ResultCacheQueueTest, FailuresAreNotCached) {
  const auto queue = engine_with(1);
  for (uint64_t i = 0; i < 3; ++i) {
    submit(*queue, i, Text{.text = "fail"}, kNever);
    EXPECT_EQ(ended.of(i).status, Status::kFailed);
    EXPECT_EQ(ended.of(i).message, "cannot be run");
  }
  EXPECT_EQ(backend->begun(), 3U);
  EXPECT_EQ(queue->statistics().cache_bytes, 0U);
}

TEST_F(ResultCacheQueueTest, AWaitingBatchComputesAfterAFailure) {
  const auto queue = engine_with(2);
  backend->hold_text("17");
  submit(*queue, 0, Text{.text = "17"}, kNever);
  backend->await_running(1);
  backend->forgetful = true;  // returns one output too few
  submit(*queue, 1, Text{.text = "17"}, kNever);
  await_queue(*queue, 0);
  backend->release();
  EXPECT_EQ(ended.of(0).status, Status::kFailed);
  EXPECT_EQ(ended.of(1).status, Status::kFailed);
  EXPECT_EQ(ended.of(1).message, "the model returned fewer outputs than inputs");
  EXPECT_EQ(backend->begun(), 2U);
  backend->forgetful = false;
  submit(*queue, 2, Text{.text = "17"}, kNever);
  EXPECT_EQ(ended.of(2).output.values[0], 17);
}

/// A run that exceeds its time limit.
TEST_F(ResultCacheQueueTest, AWaitingBatchComputesAfterTheWaitLimit) {
  results = std::make_shared<ResultCache>(kMegabyte, std::chrono::milliseconds(10));
  const auto queue = engine_with(2);
  backend->hold_text("17");
  submit(*queue, 0, Text{.text = "17"}, kNever);
  backend->await_running(1);
  submit(*queue, 1, Text{.text = "17"}, kNever);
  backend->await_running(2);  // after the wait limit
  backend->release();
  EXPECT_EQ(ended.of(0).output.values, ended.of(1).output.values);
  EXPECT_EQ(queue->statistics().cache_misses, 2U);
}

TEST_F(ResultCacheQueueTest, OutputsAreDroppedWithTheirModel) {
  auto first = engine_with(1);
  submit(*first, 0, Text{.text = "17"}, kNever);
  ended.of(0);
  const auto second = engine_with(1);
  submit(*second, 1, Text{.text = "17"}, kNever);
  EXPECT_EQ(ended.of(1).batch_size, 1U);
  first.reset();
  submit(*second, 2, Text{.text = "17"}, kNever);
  EXPECT_EQ(ended.of(2).batch_size, 0U);
  EXPECT_EQ(backend->begun(), 2U);
}

TEST_F(ResultCacheQueueTest, ManyThreadsGetTheirOwnOutputs) {
  constexpr size_t kThreads = 4;
  constexpr size_t kEach = 500;
  const auto queue = engine_with(3);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = 0; i < kEach; ++i) {
          const std::string text = std::to_string(i % 50);
          ASSERT_EQ(submit(*queue, t * kEach + i, Text{.text = text}, kNever), Status::kOk);
        }
      });
    }
  }
  queue->close();
  ASSERT_EQ(ended.size(), kThreads * kEach);
  for (size_t i = 0; i < kThreads * kEach; ++i) {
    EXPECT_EQ(ended.of(i).output.values[0], static_cast<float>(i % kEach % 50));
  }
  const Statistics statistics = queue->statistics();
  EXPECT_EQ(statistics.cache_hits + statistics.cache_misses, kThreads * kEach);
  EXPECT_EQ(statistics.cache_misses, 50U);
}

}  // namespace
}  // namespace scheduler::test
