// The workers: priorities, wake-ups, and warm-up of a model while other models serve requests.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "several_models_test.h"

namespace scheduler::test {
namespace {

class WorkersTest : public SeveralModelsTest {};

/// Records the nice values of the threads that run its batches: workers and helpers.
class NiceBackend : public EchoBackend {
 public:
  explicit NiceBackend(bool has_texts) {
    needs_preparation = has_texts;
    uses_pool = true;
  }
  std::vector<Output> run(Batch batch, const scheduler::AssignedPool& pool) override {
    std::mutex mutex;
    std::set<int> found;
    const auto look = [&](uint32_t) noexcept {
      const std::lock_guard lock(mutex);
      found.insert(getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid))));
    };
    look(0);
    pool.load()->run(100, look);
    auto outputs = EchoBackend::run(batch, pool);
    const std::lock_guard lock(mutex_);
    nice_values_.merge(found);
    return outputs;
  }
  std::set<int> nice_values() {
    const std::lock_guard lock(mutex_);
    return nice_values_;
  }

 private:
  std::mutex mutex_;
  std::set<int> nice_values_;
};

/// A batch alone, concurrent with a batch of the same model, and with a batch of the other model.
TEST_F(WorkersTest, ThePriorityOfAModelDoesNotDependOnTheLoadOrder) {
  const int own = getpriority(PRIO_PROCESS, 0);
  const int lower = std::min(own + 10, 19);
  for (const bool texts_first : {true, false}) {
    scheduler = a_scheduler();
    const auto a = std::make_shared<NiceBackend>(texts_first);
    const auto b = std::make_shared<NiceBackend>(!texts_first);
    first.backend = a;
    second.backend = b;
    const Options options{.workers = 2, .threads_per_worker = 2, .max_batch_requests = 1};
    ModelQueue one(scheduler, a, options, first.ended.handler());
    ModelQueue two(scheduler, b, options, second.ended.handler());
    for (int i = 0; i < 10; ++i) {
      const uint64_t alone = first.ask(one);
      first.ended.of(alone);
      second.ended.of(second.ask(two));
      for (int k = 0; k < 4; ++k) {
        first.ask(one);
        second.ask(two);
      }
    }
    one.close();
    two.close();
    EXPECT_EQ(a->nice_values(), std::set<int>{texts_first ? own : lower});
    EXPECT_EQ(b->nice_values(), std::set<int>{texts_first ? lower : own});
  }
}

/// Signal and text models have separate workers, but share the capacity.
TEST_F(WorkersTest, ModelsOfTwoPrioritiesShareTheCapacity) {
  Log log;
  first.backend = std::make_shared<TimedBackend>('a', milliseconds(1), log);
  second.backend = std::make_shared<TimedBackend>('b', milliseconds(1), log);
  second.backend->needs_preparation = true;
  const Options options{.workers = 1, .now = simulated_now};
  ModelQueue signals(scheduler, first.backend, options, first.ended.handler());
  ModelQueue texts(scheduler, second.backend, options, second.ended.handler());
  first.backend->hold();
  first.ask(signals);
  first.backend->await_running(1);
  for (int i = 0; i < 60; ++i) first.ask(signals);
  for (int i = 0; i < 60; ++i) second.ask(texts);
  // When this request has failed, all requests are prepared.
  EXPECT_EQ(second.ended.of(second.ask(texts, "untokenizable")).status, Status::kFailed);
  EXPECT_EQ(second.backend->begun(), 0U);  // one batch at a time, on any worker
  first.backend->release();
  signals.close();
  texts.close();
  const auto count = std::ranges::count(log.runs.substr(0, 60), 'a');
  EXPECT_GE(count, 26) << log.runs;
  EXPECT_LE(count, 34) << log.runs;
}

/// Only workers that may run a model are woken for it: replacement workers may not run the hung
/// model.
TEST_F(WorkersTest, NoRequestWaitsWhileASuitableWorkerIsIdle) {
  for (int round = 0; round < 20; ++round) {
    scheduler = a_scheduler();
    Model stuck, sound;
    stuck.backend->batching = false;
    ModelQueue one(scheduler, stuck.backend, {.workers = 3, .run_limit = kLimit},
                   stuck.ended.handler());
    ModelQueue two(scheduler, sound.backend, {.workers = 3}, sound.ended.handler());
    stuck.backend->hold_text("7");
    EXPECT_EQ(stuck.ended.of(stuck.ask(one, "7")).status, Status::kTimedOut);
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(sound.ended.has(sound.ask(two)));
      ASSERT_TRUE(stuck.ended.has(stuck.ask(one)));
      ASSERT_TRUE(stuck.ended.has(stuck.ask(one)));
    }
    stuck.backend->release();
  }
}

TEST_F(WorkersTest, WarmUpTakesOneWorkerAtATime) {
  first.backend->batching = false;
  ModelQueue serving(scheduler, first.backend, {.workers = 3}, first.ended.handler());
  EXPECT_GE(first.backend->most_warming_up(), 1U);
  ASSERT_TRUE(first.ended.has(first.ask(serving)));
  second.backend->hold_warm_up(true);
  std::unique_ptr<ModelQueue> loaded;
  std::jthread loader([&] {
    loaded = std::make_unique<ModelQueue>(scheduler, second.backend, Options{.workers = 3},
                                          second.ended.handler());
  });
  second.backend->await_warm_up();
  first.backend->hold();
  for (int i = 0; i < 2; ++i) first.ask(serving);
  first.backend->await_running(3);  // two workers run, a third warms up
  first.backend->release();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(first.ended.has(first.ask(serving)));
  second.backend->hold_warm_up(false);
  loader.join();
  EXPECT_EQ(second.backend->most_warming_up(), 1U);
  EXPECT_TRUE(second.ended.has(second.ask(*loaded)));
}

}  // namespace
}  // namespace scheduler::test
