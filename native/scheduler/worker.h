// A worker thread of the scheduler and its current work.
#pragma once

#include <condition_variable>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "request.h"
#include "scheduler/scheduler.h"
#include "scheduler/thread_setup.h"

namespace scheduler {

/// Priority of the workers of a model. Requests of signal models keep the event loop busy, which
/// must take precedence. Requests of text models do not; with a lower priority, another process
/// would take almost a whole core from their workers.
inline Priority priority_for(const Description& model) {
  return model.needs_preparation ? Priority::kEqual : Priority::kLower;
}

struct Scheduler::Worker {
  explicit Worker(Priority of_thread) : priority(of_thread) {}

  const Priority priority;  ///< of the thread and its helpers; it runs models of this priority only
  std::thread thread;
  std::condition_variable changed;  ///< notified when `idle` becomes false
  bool idle = false;                ///< waits for work
  /// While idle: time at which the worker wakes without a notification.
  Clock::time_point wakes_at = Clock::time_point::max();
  std::set<const ModelQueue*> warmed_up;  ///< models that may run here, or are being warmed up
  ThreadPools pools;                      ///< its own helper threads
  AssignedPool pool{nullptr};             ///< pool in use: one of `pools` or of shared_pools_

  ModelQueue* queue = nullptr;  ///< queue that it works for; null: the worker is free
  std::optional<size_t> slot;   ///< of its batch, see WaitEstimate
  bool warming_up = false;      ///< warms up for `queue`
  bool running = false;         ///< inside the model, from begin() to end()
  Requests* batch = nullptr;    ///< batch inside the model; null during warm-up
  Clock::time_point start;      ///< of the run
  bool hung = false;            ///< the run has exceeded its time limit

  bool is_free() const { return queue == nullptr; }

  /// Marks the start of a run. The list must not move until end(): if the run exceeds its time
  /// limit, the watchdog completes its requests.
  void begin(Requests* requests) {
    batch = requests;
    start = Clock::now();
    running = true;
  }

  /// Marks the end of a run. Returns false if the watchdog has completed its requests.
  bool end() {
    batch = nullptr;
    running = false;
    return !std::exchange(hung, false);
  }
};

}  // namespace scheduler
