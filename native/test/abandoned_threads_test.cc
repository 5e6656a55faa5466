// The process exits although a thread hangs.
#include "scheduler/abandoned_threads.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "injected_faults.h"

namespace scheduler::test {
namespace {

/// A static object, whose destructor changes the exit status.
struct Unwanted {
  ~Unwanted() {
    if (is_armed) _Exit(99);
  }
  bool is_armed = false;
};
Unwanted unwanted;

TEST(AbandonedThreadsDeathTest, ExitKeepsItsStatusWhileAThreadIsAbandoned) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        unwanted.is_armed = true;
        std::promise<void> never;
        join_in_background([waiting = never.get_future().share()] { waiting.wait(); });
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

TEST(AbandonedThreadsDeathTest, ExitRunsDestructorsAfterAllThreadsHaveEnded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        unwanted.is_armed = true;
        join_in_background([] {});
        while (abandoned_threads() > 0) std::this_thread::yield();
        std::exit(7);
      },
      testing::ExitedWithCode(99), "");
}

/// In each round another allocation fails, in the last round the thread. The resources must be
/// leaked, because a thread uses them.
TEST(AbandonedThreadsDeathTest, ResourcesAreLeakedWithoutAThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        constexpr size_t kMaxAllocations = 20;
        for (size_t place = 0; place <= kMaxAllocations; ++place) {
          std::promise<void> never;
          auto held = std::make_shared<std::shared_future<void>>(never.get_future().share());
          const std::weak_ptr<std::shared_future<void>> watched = held;
          std::function<void()> wait([held = std::move(held)] { held->wait(); });
          faults::fail_thread(place == 0 ? 1 : 0);
          faults::fail_allocation(place);
          join_in_background(std::move(wait));
          faults::fail_allocation(0);
          faults::fail_thread(0);
          if (watched.expired()) std::_Exit(1);
        }
        std::_Exit(7);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace scheduler::test
