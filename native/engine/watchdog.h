// Runs of the model that take longer than they may.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "request.h"

namespace engine {

/// Gives up on a run that is over the limit: its requests are answered then, and what it yields
/// later is nobody's. No thread can be made to stop, so the run itself goes on. Any thread.
class Watchdog {
 public:
  /// On the watchdog's thread; must not wait.
  struct Handlers {
    /// A run of this worker is given up.
    std::function<void(Requests& batch, size_t worker)> on_given_up;
    /// Ten times a second.
    std::function<void()> at_times;
  };

  /// Throws std::system_error where it can have no thread.
  Watchdog(Clock::duration limit, size_t workers, Handlers handlers);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// One run of a worker, 0 … workers - 1, from here to end(). The batch, of which it may be a
  /// part, must stay where it is meanwhile; it is the watchdog's once the run is given up.
  class Run {
   public:
    Run(Watchdog& watchdog, Requests& batch, size_t worker) noexcept;
    ~Run() { end(); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    /// Whether its requests are still to be answered; the first call says it.
    bool end() noexcept;

   private:
    Watchdog& watchdog_;
    const size_t worker_;
    bool ended_ = false;
  };

  /// Runs that were given up and have not come back.
  size_t given_up() const { return given_up_; }
  /// How long the longest of them has been running; 0: there is none.
  Clock::duration stuck_for() const;

 private:
  /// What a worker runs; no batch: nothing.
  struct Entry {
    Requests* batch = nullptr;
    Clock::time_point start;
    bool given_up = false;
  };

  void watch();

  const Clock::duration limit_;
  const Handlers handlers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Entry> runs_;  ///< [workers]: to begin a run takes no memory
  std::atomic<size_t> given_up_{0};
  bool closed_ = false;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace engine
