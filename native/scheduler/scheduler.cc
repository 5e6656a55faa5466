#include "scheduler/scheduler.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "completion.h"
#include "request_queue.h"
#include "scheduler/model_queue.h"
#include "scheduler/thread_setup.h"
#include "tokenizer.h"
#include "worker.h"

namespace scheduler {

Scheduler::Scheduler() = default;

Scheduler::~Scheduler() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    wake_all();
  }
  watch_changed_.notify_all();
  for (Worker& worker : workers_) worker.thread.join();
  if (watchdog_.joinable()) watchdog_.join();
}

bool Scheduler::is_in_service() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(queues_, &ModelQueue::in_service_);
}

void Scheduler::add(ModelQueue& queue, Lock& lock) {
  queues_.push_back(&queue);
  capacity_ = std::max(capacity_, queue.options_.workers);
  queue.virtual_runtime_ = virtual_time_;
  start_threads_of(queue);
  start_workers(priority_for(queue.description_));
  wake_all();
  queue_changed_.wait(lock, [&] { return queue.warm_up_error_ || is_warmed_up(queue); });
  if (queue.warm_up_error_) std::rethrow_exception(queue.warm_up_error_);
}

/// Removes a queue that no worker is busy with.
void Scheduler::remove(ModelQueue& queue, Lock& lock) {
  std::erase(queues_, &queue);
  for (Worker& worker : workers_) worker.warmed_up.erase(&queue);
  queue.stopping_ = true;
  for (auto& changed : queue.arrived_changed_) changed.notify_all();
  std::list<Tokenizer> tokenizers = std::exchange(queue.tokenizers_, {});
  lock.unlock();
  for (Tokenizer& tokenizer : tokenizers) tokenizer.thread.join();
  lock.lock();
}

/// True if at least one worker is warmed up for the queue's model and no free worker lacks it.
bool Scheduler::is_warmed_up(const ModelQueue& queue) const {
  bool is_warm = false;
  for (const Worker& worker : workers_) {
    if (worker.priority != priority_for(queue.description_)) continue;
    if (worker.queue == &queue) return false;  // warming up
    const bool may_run = worker.warmed_up.contains(&queue);
    if (!may_run && worker.is_free()) return false;
    is_warm = is_warm || may_run;
  }
  return is_warm;
}

/// True if the worker may never return: its run has exceeded the time limit, or its queue is
/// aborted.
bool Scheduler::is_abandoned(const Worker& worker) {
  return worker.hung || (!worker.is_free() && worker.queue->abandoned_);
}

/// Starts missing workers of a priority. Abandoned workers are not counted if several models are
/// loaded.
void Scheduler::start_workers(Priority priority) {
  size_t models = 0, needed = 0, existing = 0;
  for (const ModelQueue* const queue : queues_) {
    if (priority_for(queue->description_) != priority) continue;
    ++models;
    needed = std::max(needed, queue->options_.workers);
  }
  for (const Worker& worker : workers_) {
    if (worker.priority == priority && !(models > 1 && is_abandoned(worker))) ++existing;
  }
  for (; existing < needed; ++existing) {
    Worker& worker = workers_.emplace_back(priority);
    try {
      worker.thread = std::thread([this, &worker] {
        set_up_thread("inference", worker.priority);
        work(worker);
      });
    } catch (...) {
      workers_.pop_back();
      throw;
    }
  }
}

/// Starts workers in place of abandoned ones. If threads or memory are missing, fewer workers
/// remain.
void Scheduler::replace_abandoned() noexcept {
  queue_changed_.notify_all();
  try {
    for (const Priority priority : {Priority::kEqual, Priority::kLower}) start_workers(priority);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
  wake_all();  // abandoned workers no longer count towards capacity_
}

void Scheduler::start_threads_of(ModelQueue& queue) {
  if (!watchdog_.joinable()) {
    watchdog_ = std::thread([this] {
      set_up_thread("watchdog", Priority::kEqual);
      watch();
    });
  }
  start_tokenizers(queue);
}

/// Worker seconds that other models will receive while the backlog of this queue drains. Each model
/// receives its weighted share, but not more than its own backlog.
double Scheduler::competing_seconds(const ModelQueue& queue) const {
  if (queues_.size() < 2) return 0;
  const double own = queue.requests_->work();
  double competing = 0;
  for (const ModelQueue* each : queues_) {
    const double fair_share = own * each->weight_ / queue.weight_;
    if (each != &queue) competing += std::min(each->requests_->work(), fair_share);
  }
  return competing;
}

}  // namespace scheduler
