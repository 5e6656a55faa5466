// Several queues on one scheduler, with backends whose runs take simulated time.
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

/// A short time limit, for runs that must exceed it.
inline constexpr milliseconds kLimit{20};

inline std::atomic<Clock::duration::rep> simulated_time{0};

inline Clock::time_point simulated_now() {
  return Clock::time_point(std::chrono::hours(1) + Clock::duration(simulated_time.load()));
}

/// The runs of all models in order.
struct Log {
  std::mutex mutex;
  std::string runs;
};

/// A model with a fixed run time on the simulated clock.
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
  /// A model with any number of queues.
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
