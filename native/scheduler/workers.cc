// The workers of the scheduler: which model runs next, and with which threads.
#include <algorithm>
#include <exception>
#include <utility>

#include "request_queue.h"
#include "scheduler/model_queue.h"
#include "scheduler/scheduler.h"
#include "worker.h"

namespace scheduler {

/// Model that the worker must warm up for; null: none. While models serve requests,
/// one worker at a time warms up, and the other workers continue with their batches.
ModelQueue* Scheduler::next_model_to_warm_up(const Worker& worker) const {
  const auto wants = [&](const ModelQueue* queue) {
    const bool is_wanted = !queue->requests_->is_closed() && !queue->warm_up_error_;
    return is_wanted && priority_for(queue->description_) == worker.priority &&
           !worker.warmed_up.contains(queue) && queue->hung_runs() == 0;
  };
  const auto found = std::ranges::find_if(queues_, wants);
  if (found == queues_.end()) return nullptr;
  const bool is_in_service = std::ranges::any_of(queues_, &ModelQueue::in_service_);
  const bool another_warms_up = std::ranges::any_of(
      workers_, [](const Worker& each) { return each.warming_up && !is_abandoned(each); });
  return is_in_service && another_warms_up ? nullptr : *found;
}

/// Among queues with a due batch, the one with the lowest virtual runtime. Null if no batch is due,
/// or if the last unit of capacity_ belongs to a queue that only other free workers may run.
/// `wake`: set to the earliest time at which a delayed batch becomes due.
ModelQueue* Scheduler::pick_lowest_vruntime(const Worker& worker, Clock::time_point& wake) const {
  const auto at_work = static_cast<size_t>(std::ranges::count_if(
      workers_, [](const Worker& each) { return !each.is_free() && !is_abandoned(each); }));
  if (at_work >= capacity_) return nullptr;
  ModelQueue* best = nullptr;
  const ModelQueue* best_elsewhere = nullptr;
  for (ModelQueue* const queue : queues_) {
    const bool may_run = worker.warmed_up.contains(queue);
    const auto due = queue->requests_->next_batch();
    if (due > queue->options_.now()) {
      if (may_run) wake = std::min(wake, due);
    } else if (may_run) {
      if (best == nullptr || queue->virtual_runtime_ < best->virtual_runtime_) best = queue;
    } else if (has_other_free_worker(*queue, worker)) {
      const bool is_first =
          best_elsewhere == nullptr || queue->virtual_runtime_ < best_elsewhere->virtual_runtime_;
      if (is_first) best_elsewhere = queue;
    }
  }
  const bool is_last_place = at_work + 1 == capacity_;
  const bool is_behind = best != nullptr && best_elsewhere != nullptr &&
                         best_elsewhere->virtual_runtime_ < best->virtual_runtime_;
  return is_last_place && is_behind ? nullptr : best;
}

/// True if another free worker may run the queue's model; wait() wakes it.
bool Scheduler::has_other_free_worker(const ModelQueue& queue, const Worker& worker) const {
  return std::ranges::any_of(workers_, [&](const Worker& each) {
    return &each != &worker && each.is_free() && each.warmed_up.contains(&queue);
  });
}

void Scheduler::work(Worker& worker) {
  Lock lock(mutex_);
  while (!ending_) {
    auto wake = Clock::time_point::max();
    if (ModelQueue* const cold = next_model_to_warm_up(worker)) {
      warm_up(worker, *cold, lock);
    } else if (ModelQueue* const queue = pick_lowest_vruntime(worker, wake)) {
      run(worker, *queue, lock);
    } else {
      wait(worker, wake, lock);
    }
  }
}

void Scheduler::wait(Worker& worker, Clock::time_point wake, Lock& lock) {
  worker.idle = true;
  worker.wakes_at = wake;
  wake_next();  // for batches that this worker may not run
  const auto is_woken = [&worker] { return !worker.idle; };
  if (wake == Clock::time_point::max()) {
    worker.changed.wait(lock, is_woken);
  } else {
    worker.changed.wait_until(lock, wake, is_woken);
  }
  worker.idle = false;
  worker.wakes_at = Clock::time_point::max();
}

/// Picks an idle worker that has work, by the same conditions as work(), and marks it as not idle;
/// null if no idle worker has work. The caller must notify the worker.
Scheduler::Worker* Scheduler::next_to_wake() {
  for (Worker& worker : workers_) {
    if (!worker.idle) continue;
    auto wake = Clock::time_point::max();
    if (next_model_to_warm_up(worker) == nullptr && pick_lowest_vruntime(worker, wake) == nullptr) {
      const bool is_covered = std::ranges::any_of(workers_, [&](const Worker& each) {
        return each.idle && each.priority == worker.priority && each.wakes_at <= wake;
      });
      if (is_covered) continue;  // a worker wakes in time for the delayed batch
    }
    worker.idle = false;
    return &worker;
  }
  return nullptr;
}

bool Scheduler::wake_next() {
  Worker* const worker = next_to_wake();
  if (worker != nullptr) worker->changed.notify_one();
  return worker != nullptr;
}

/// Wakes all workers, after a change that concerns several of them.
void Scheduler::wake_all() {
  for (Worker& worker : workers_) {
    worker.idle = false;
    worker.changed.notify_one();
  }
}

void Scheduler::warm_up(Worker& worker, ModelQueue& queue, Lock& lock) {
  assign_worker(worker, &queue, std::nullopt);
  worker.warming_up = true;
  worker.begin(nullptr);
  ++queue.busy_threads_;
  const bool is_in_service = std::ranges::any_of(queues_, &ModelQueue::in_service_);
  std::exception_ptr problem;
  try {
    worker.warmed_up.insert(&queue);
    wake_next();  // for a batch that arrived with the model
    if (queue.description_.uses_pool) create_thread_pools(worker, queue, lock);
    if (lock.owns_lock()) lock.unlock();
    queue.warm_up_worker(worker, is_in_service);
  } catch (...) {
    problem = std::current_exception();
  }
  if (!lock.owns_lock()) lock.lock();
  if (problem) {
    worker.warmed_up.erase(&queue);
    queue.warm_up_error_ = problem;
  }
  worker.end();
  worker.warming_up = false;
  assign_worker(worker, nullptr, std::nullopt);
  queue.release_thread();
}

/// Creates the worker's own pool and, if no other worker has, the shared pool. Threads are started
/// with the lock released, because submit() needs it; they inherit the worker's priority. Other
/// threads read the worker's pools only while it runs a batch.
void Scheduler::create_thread_pools(Worker& worker, const ModelQueue& queue, Lock& lock) {
  const size_t own = queue.options_.threads_per_worker, all = queue.threads_of_all_workers();
  const auto make = [](size_t threads) {
    return std::make_unique<ThreadPool>(static_cast<int>(threads) - 1);
  };
  ThreadPools& shared = shared_pools_[worker.priority];
  const bool is_first = shared.try_emplace(all).second;
  lock.unlock();
  try {
    auto& pool = worker.pools[own];
    if (!pool) pool = make(own);
    worker.pool = pool.get();
    if (!is_first) return;
    auto for_all = make(all);
    lock.lock();
    shared.at(all) = std::move(for_all);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (is_first) shared.erase(all);
    throw;
  }
}

/// Marks the worker as busy with this queue and batch slot; null: as free.
void Scheduler::assign_worker(Worker& worker, ModelQueue* queue, std::optional<size_t> slot) {
  worker.queue = queue;
  worker.slot = slot;
  worker.pool = nullptr;
  assign_thread_pools();
}

/// Assigns a thread pool to each running batch. If exactly one batch runs and no request waits, it
/// uses the shared pool with all cores; otherwise each batch uses its worker's own pool. Called
/// when a batch starts or ends, so no other batch still uses the shared pool. A shared pool that is
/// being created is not assigned.
void Scheduler::assign_thread_pools() {
  const bool is_nothing_queued = std::ranges::all_of(
      queues_, [](const ModelQueue* each) { return each->requests_->size() == 0; });
  const bool is_single = std::ranges::count(workers_, false, &Worker::is_free) == 1;
  const bool has_all = is_nothing_queued && is_single;
  for (Worker& worker : workers_) {
    if (!worker.slot) continue;
    const ModelQueue& queue = *worker.queue;
    queue.requests_->runs().set_cores(*worker.slot, has_all ? queue.options_.workers : 1);
    if (!queue.description_.uses_pool) continue;
    worker.pool = worker.pools.at(queue.options_.threads_per_worker).get();
    const ThreadPools& shared = shared_pools_[worker.priority];
    const auto pool = shared.find(queue.threads_of_all_workers());
    if (has_all && pool != shared.end() && pool->second) worker.pool = pool->second.get();
  }
}

void Scheduler::run(Worker& worker, ModelQueue& queue, Lock& lock) {
  virtual_time_ = std::max(virtual_time_, queue.virtual_runtime_);
  DequeuedBatch taken = queue.requests_->dequeue_batch();
  const bool has_run = !taken.batch.empty();
  assign_worker(worker, &queue, has_run ? std::optional(taken.slot) : std::nullopt);
  ++queue.busy_threads_;
  queue.virtual_runtime_ += taken.expected / queue.weight_;
  wake_next();  // for the remaining requests
  lock.unlock();
  queue.complete_as(Status::kDeadlineExceeded, taken.expired);
  const bool is_typical = has_run && queue.run_batch(taken.batch, worker);
  taken.batch.clear();
  lock.lock();
  if (has_run) {
    const double took = queue.requests_->runs().finish(taken.slot, is_typical);
    if (is_typical) queue.virtual_runtime_ += (took - taken.expected) / queue.weight_;
  }
  assign_worker(worker, nullptr, std::nullopt);
  queue.release_thread();
}

}  // namespace scheduler
