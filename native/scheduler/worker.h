// One of the machine's workers, and what it is at work on.
#pragma once

#include <condition_variable>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "scheduler/machine.h"
#include "scheduler/thread_pool.h"
#include "request.h"
#include "worker_thread.h"

namespace scheduler {

/// The requests of a signal model keep the event loop busy, and it must win. Those of a text model
/// hardly do, and with a lower priority another process would take a core from it nearly whole.
inline Priority priority_for(const Description& model) {
  return model.needs_preparation ? Priority::kEqual : Priority::kLower;
}

struct Machine::Worker {
  explicit Worker(Priority of_thread) : priority(of_thread) {}

  const Priority priority;  ///< of its thread and its helpers; it runs models of this priority only
  std::thread thread;
  std::condition_variable changed;  ///< notified when `waits` becomes false
  bool waits = false;               ///< has nothing to do, and is not yet to look again
  /// If it waits: when it looks again by itself.
  Clock::time_point wakes_at = Clock::time_point::max();
  std::set<const Engine*> prepared;  ///< whose models may run here, and the one that is prepared
  ThreadPools pools;                 ///< its helpers on a batch
  AssignedPool pool{nullptr};      ///< that helps it now: of these, or the machine's

  Engine* engine = nullptr;     ///< that it is at work on, from here to there; null: none
  std::optional<size_t> place;  ///< of its batch in that engine's queue; see WaitEstimate
  bool warms_up = false;        ///< is being prepared for that engine
  bool computes = false;        ///< the model does, from begin() to end()
  Requests* batch = nullptr;    ///< that the model computes; null: the worker is being prepared
  Clock::time_point start;      ///< of that
  bool is_stuck = false;        ///< that was given up

  bool is_free() const { return engine == nullptr; }

  /// The model begins to compute. A batch, of which it may compute a part, must stay where it is
  /// until end(); once the run is given up, its requests are the watchdog's.
  void begin(Requests* requests) {
    batch = requests;
    start = Clock::now();
    computes = true;
  }

  /// Whether the requests are still to be answered.
  bool end() {
    batch = nullptr;
    computes = false;
    return !std::exchange(is_stuck, false);
  }
};

}  // namespace scheduler
