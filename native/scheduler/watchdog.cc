// The watchdog thread: ends runs and preparations over their time limit, and requests past their
// deadline.
#include <algorithm>
#include <utility>

#include "completion.h"
#include "request_queue.h"
#include "scheduler/model_queue.h"
#include "scheduler/scheduler.h"
#include "worker.h"

namespace scheduler {
namespace {

/// Interval between two checks. Runs do not notify the watchdog.
constexpr std::chrono::milliseconds kPeriod{100};

}  // namespace

/// Main function of the watchdog thread. Workers complete expired requests as well, but only
/// between batches.
void Scheduler::watch() {
  Lock lock(mutex_);
  while (!ending_) {
    auto next = check_runs();
    for (ModelQueue* const queue : queues_) {
      next = std::min(next, check_tokenizers(*queue));
      Requests expired = queue->requests_->take_expired();
      complete_all(expired, Status::kDeadlineExceeded, queue->watchdog_completions_);
      if (!queue->watchdog_completions_.empty()) ++queue->busy_threads_;
    }
    const auto has_completions = [](const ModelQueue* each) {
      return !each->watchdog_completions_.empty();
    };
    for (;;) {
      const auto found = std::ranges::find_if(queues_, has_completions);
      if (found == queues_.end()) break;
      ModelQueue& queue = **found;
      Completions completions = std::exchange(queue.watchdog_completions_, {});
      lock.unlock();
      queue.deliver(std::move(completions));
      lock.lock();
      queue.release_thread();
    }
    watch_changed_.wait_until(lock, next, [this] { return ending_; });
  }
}

/// Abandons runs over their time limit. Returns the time of the next check.
Clock::time_point Scheduler::check_runs() {
  auto next = Clock::now() + kPeriod;
  for (Worker& worker : workers_) {
    if (!worker.running || worker.hung) continue;
    const auto end = worker.start + worker.queue->options_.run_limit;
    if (end > Clock::now()) {
      next = std::min(next, end);
      continue;
    }
    worker.hung = true;
    if (worker.batch != nullptr && worker.slot) {
      ++worker.queue->batches_;
      worker.queue->requests_->runs().mark_hung(*worker.slot);
      worker.queue->mark_timed_out(*worker.batch);
    }
    replace_abandoned();
  }
  return next;
}

}  // namespace scheduler
