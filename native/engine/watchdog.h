// Runs of the model that take longer than they may.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "request_queue.h"

namespace engine {

/// Gives up on a run that is over the limit: its requests are answered then, and what it yields
/// later is nobody's. No thread can be made to stop, so the run itself goes on. Any thread.
class Watchdog {
 public:
  /// On the watchdog's thread; must not wait.
  struct Handlers {
    /// A run of this worker is given up.
    std::function<void(const Requests&, size_t worker)> on_given_up;
    /// Again and again while a run is given up.
    std::function<void()> meanwhile;
  };

  Watchdog(Clock::duration limit, Handlers handlers);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  struct Entry {
    Clock::time_point start;
    const Requests* requests;
    size_t worker;
    bool given_up = false;
  };

 public:
  /// One run, from here to end(). The requests must stay where they are meanwhile.
  class Run {
   public:
    Run(Watchdog& watchdog, const Requests& requests, size_t worker);
    ~Run() { end(); }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

    /// Whether its requests are still to be answered; the first call says it.
    bool end();

   private:
    Watchdog& watchdog_;
    std::list<Entry>::iterator entry_;
    bool ended_ = false;
  };

  /// Runs that were given up and have not come back.
  size_t given_up() const { return given_up_; }
  /// How long the longest of them has been running; 0: there is none.
  Clock::duration stuck_for() const;

 private:
  void watch();

  const Clock::duration limit_;
  const Handlers handlers_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Entry> runs_;  ///< in the order in which they began
  std::atomic<size_t> given_up_{0};
  bool closed_ = false;
  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace engine
