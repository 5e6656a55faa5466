// The thread pool: every part is run once.
#include "scheduler/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <system_error>
#include <thread>
#include <vector>

#include "injected_faults.h"

namespace {

using scheduler::ThreadPool;

TEST(ThreadPool, RunsEveryPartOnce) {
  for (const int helpers : {0, 1, 3}) {
    ThreadPool pool(helpers);
    for (uint32_t count = 0; count < 200; ++count) {
      std::vector<std::atomic<int>> runs(count);
      pool.run(count, [&](uint32_t part) noexcept { ++runs[part]; });
      for (const auto& each : runs) ASSERT_EQ(each, 1);
    }
  }
}

/// A late helper must not run parts of the next work with the function of the previous one.
TEST(ThreadPool, ConsecutiveWorkIsSeparate) {
  ThreadPool pool(3);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<int> seen(7, -1);
    pool.run(7, [&seen, round](uint32_t part) noexcept { seen[part] = round; });
    for (const int value : seen) ASSERT_EQ(value, round);
  }
}

TEST(ThreadPool, HelpersRunParts) {
  ThreadPool pool(1);
  std::set<std::thread::id> threads;
  // On a loaded machine the helper may miss some calls.
  for (int round = 0; round < 1000 && threads.size() < 2; ++round) {
    std::vector<std::thread::id> by(64);
    pool.run(64, [&](uint32_t part) noexcept {
      by[part] = std::this_thread::get_id();
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    });
    threads.insert(by.begin(), by.end());
  }
  EXPECT_EQ(threads.size(), 2U);
}

TEST(ThreadPool, SleepingHelpersAreWoken) {
  ThreadPool pool(2);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> runs{0};
    pool.run(50, [&](uint32_t) noexcept { ++runs; });
    ASSERT_EQ(runs, 50);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // longer than helpers spin
  }
}

TEST(ThreadPool, EndsUnused) { const ThreadPool pool(2); }

TEST(ThreadPool, TheConstructorThrowsIfAHelperCannotBeStarted) {
  constexpr size_t kHelpers = 3;
  for (size_t place = 1; place <= kHelpers; ++place) {
    faults::fail_thread(place);
    EXPECT_THROW(ThreadPool(static_cast<int>(kHelpers)), std::system_error) << place;
  }
  faults::fail_thread(0);
}

}  // namespace
