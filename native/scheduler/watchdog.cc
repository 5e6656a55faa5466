// The machine's thread that ends what takes too long.
#include <algorithm>
#include <utility>

#include "ending.h"
#include "scheduler/engine.h"
#include "scheduler/machine.h"
#include "request_queue.h"
#include "worker.h"

namespace scheduler {
namespace {

/// No run wakes the watchdog; it looks by itself.
constexpr std::chrono::milliseconds kPeriod{100};

}  // namespace

/// Gives up what runs for too long, and ends what waits and is past its deadline: the workers do
/// that, too, but a long batch keeps them from it.
void Machine::watch() {
  Lock lock(mutex_);
  while (!ending_) {
    const auto next = look_at_runs();
    for (Engine* const engine : engines_) {
      Requests expired = engine->queue_->take_expired();
      end_all(expired, Status::kDeadlineExceeded, engine->ended_by_watchdog_);
      if (!engine->ended_by_watchdog_.empty()) ++engine->busy_;
    }
    const auto has_news = [](const Engine* each) { return !each->ended_by_watchdog_.empty(); };
    for (;;) {
      const auto found = std::ranges::find_if(engines_, has_news);
      if (found == engines_.end()) break;
      Engine& engine = **found;
      Completions ended = std::exchange(engine.ended_by_watchdog_, {});
      lock.unlock();
      engine.complete(std::move(ended));
      lock.lock();
      engine.leave();
    }
    watch_changed_.wait_until(lock, next, [this] { return ending_; });
  }
}

/// Returns when to look again.
Clock::time_point Machine::look_at_runs() {
  auto next = Clock::now() + kPeriod;
  for (Worker& worker : workers_) {
    if (!worker.computes || worker.is_stuck) continue;
    const auto end = worker.start + worker.engine->options_.run_limit;
    if (end > Clock::now()) {
      next = std::min(next, end);
      continue;
    }
    worker.is_stuck = true;
    if (worker.batch != nullptr && worker.place)
      worker.engine->give_up(*worker.batch, *worker.place);
    replace_lost();
  }
  return next;
}

}  // namespace scheduler
