// How many threads have not ended, for those who will not wait for all of them.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "engine/engine.h"

namespace engine {

/// A count, and whoever waits for it to fall. Any thread.
class LiveThreads {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }

  void end() {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }

  /// Something else has changed that somebody may wait for.
  void wake() {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  /// Until `enough(count)`. `until`: at most. Returns the count.
  template <typename Enough>
  size_t wait(Enough enough, Clock::time_point until = Clock::time_point::max()) {
    std::unique_lock lock(mutex_);
    const auto done = [&] { return enough(count_); };
    if (until == Clock::time_point::max()) {
      changed_.wait(lock, done);
    } else {
      changed_.wait_until(lock, until, done);
    }
    return count_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t count_ = 0;
};

}  // namespace engine
