// Several engines on one machine, with backends whose runs take simulated time.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "echo_backend.h"

namespace scheduler::test {

using std::chrono::milliseconds;

/// Over in a moment. What must be in time is not run with it.
inline constexpr milliseconds kLimit{20};

inline std::atomic<Clock::duration::rep> simulated_time{0};

inline Clock::time_point simulated_now() {
  return Clock::time_point(std::chrono::hours(1) + Clock::duration(simulated_time.load()));
}

/// What has run on a machine, in its order.
struct Log {
  std::mutex mutex;
  std::string runs;
};

/// A run takes as long as it is told to, by the simulated clock.
class TimedBackend : public EchoBackend {
 public:
  TimedBackend(char name, milliseconds time, Log& log) : name_(name), time_(time), log_(log) {
    needs_preparation = false;
    batching = false;
  }
  std::vector<Output> run(Batch batch, const scheduler::AssignedPool& pool) override {
    auto outputs = EchoBackend::run(batch, pool);
    simulated_time += Clock::duration(time_).count();
    const std::lock_guard lock(log_.mutex);
    log_.runs += name_;
    return outputs;
  }

 private:
  char name_;
  milliseconds time_;
  Log& log_;
};

class SeveralModelsTest : public testing::Test {
 protected:
  /// Any number of engines; it answers each request with a number.
  struct Model {
    std::shared_ptr<EchoBackend> backend = std::make_shared<EchoBackend>();
    Collector ended;
    uint64_t last_ticket = 0;

    uint64_t ask(ModelQueue& queue, const std::string& text = "1") {
      EXPECT_EQ(submit(queue, ++last_ticket, Text{.text = text}, kNever), Status::kOk);
      return last_ticket;
    }
  };

  std::shared_ptr<Scheduler> scheduler = a_scheduler();
  Model first, second;
};

}  // namespace scheduler::test
