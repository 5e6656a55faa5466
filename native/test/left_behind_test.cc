// The process ends although something has not.
#include "engine/left_behind.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <thread>

namespace engine::test {
namespace {

/// Destroyed by exit(), unless it leaves before it comes to that.
struct Unwanted {
  ~Unwanted() {
    if (is_armed) _Exit(99);
  }
  bool is_armed = false;
};
Unwanted unwanted;

TEST(LeftBehindDeathTest, ExitKeepsItsStatusAndDestroysNothingUnderThreadsThatAreLeftBehind) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        unwanted.is_armed = true;
        std::promise<void> never;
        leave_behind([waiting = never.get_future().share()] { waiting.wait(); });
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

TEST(LeftBehindDeathTest, ExitTakesItsUsualWayOnceTheyHaveEnded) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        unwanted.is_armed = true;
        leave_behind([] {});
        while (left_behind_count() > 0) std::this_thread::yield();
        std::exit(7);
      },
      testing::ExitedWithCode(99), "");
}

}  // namespace
}  // namespace engine::test
