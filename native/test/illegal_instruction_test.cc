// Who gets a SIGILL while code is tried.
#include "illegal_instruction.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "no_instruction.h"

namespace {

using gemm::IllegalInstructionTrap;

std::atomic<int> handled{0};

void count_one(int) { ++handled; }
void count_one_with_information(int, siginfo_t* info, void* context) {
  if (info != nullptr && context != nullptr) ++handled;
}

struct sigaction current_action() {
  struct sigaction action;
  sigaction(SIGILL, nullptr, &action);
  return action;
}

/// Puts things back as they were.
class IllegalInstructionTest : public testing::Test {
 protected:
  void SetUp() override {
    handled = 0;
    sigaction(SIGILL, nullptr, &before_);
  }
  void TearDown() override { sigaction(SIGILL, &before_, nullptr); }

  static void handle_with(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGILL, &action, nullptr);
  }

  /// On another thread, while this one tries something.
  static void raise_elsewhere() {
    IllegalInstructionTrap trap;
    std::atomic<bool> is_running{false}, is_raised{false};
    std::thread other([&] {
      while (!is_running) std::this_thread::yield();
      raise(SIGILL);
      is_raised = true;
    });
    EXPECT_TRUE(trap.run([&]() noexcept {
      is_running = true;
      while (!is_raised) {
      }
    }));
    other.join();
  }

 private:
  struct sigaction before_;
};

using IllegalInstructionDeathTest = IllegalInstructionTest;

TEST_F(IllegalInstructionTest, EndsWhatIsTriedAndNothingElse) {
  handle_with(count_one);
  {
    IllegalInstructionTrap trap;
    int reached = 0;
    for (int round = 0; round < 100; ++round) {
      EXPECT_FALSE(trap.run([&]() noexcept {
        ++reached;
        raise(SIGILL);
        reached = -1;
      }));
      EXPECT_TRUE(trap.run([&]() noexcept { ++reached; }));
    }
    EXPECT_EQ(reached, 200);
    EXPECT_FALSE(trap.run([]() noexcept { run_no_instruction(); }));
  }
  EXPECT_EQ(handled, 0);
  EXPECT_EQ(current_action().sa_handler, count_one);
}

TEST_F(IllegalInstructionTest, ThoseOfOtherThreadsGoWhereTheyWent) {
  handle_with(count_one);
  raise_elsewhere();
  EXPECT_EQ(handled, 1);
  struct sigaction action = {};
  action.sa_sigaction = count_one_with_information;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, nullptr);
  raise_elsewhere();
  EXPECT_EQ(handled, 2);
  handle_with(SIG_IGN);
  raise_elsewhere();
}

TEST_F(IllegalInstructionTest, AHandlerThatCameMeanwhileStays) {
  {
    IllegalInstructionTrap trap;
    handle_with(count_one);
  }
  EXPECT_EQ(current_action().sa_handler, count_one);
}

TEST_F(IllegalInstructionTest, ABlockedSignalIsCaughtAndBlockedAgain) {
  sigset_t blocked, now;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGILL);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  EXPECT_FALSE(IllegalInstructionTrap().run([]() noexcept { run_no_instruction(); }));
  pthread_sigmask(SIG_UNBLOCK, &blocked, &now);
  EXPECT_EQ(sigismember(&now, SIGILL), 1);
}

TEST_F(IllegalInstructionDeathTest, WithoutAHandlerTheProcessEnds) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        handle_with(SIG_DFL);
        raise_elsewhere();
      },
      testing::KilledBySignal(SIGILL), "");
  EXPECT_EXIT(
      {
        handle_with(SIG_IGN);
        IllegalInstructionTrap trap;
        run_no_instruction();  // outside of run()
      },
      testing::KilledBySignal(SIGILL), "");
}

}  // namespace
