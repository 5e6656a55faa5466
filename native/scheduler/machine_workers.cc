// What the workers do, and which of them does it.
#include <algorithm>
#include <exception>
#include <utility>

#include "scheduler/engine.h"
#include "scheduler/machine.h"
#include "request_queue.h"
#include "worker.h"

namespace scheduler {

/// An engine for which the worker is to prepare itself. While models serve requests, one worker at
/// a time does so: the others go on with their batches.
Engine* Machine::next_to_warm_up(const Worker& worker) const {
  const auto wants = [&](const Engine* engine) {
    const bool is_wanted = !engine->queue_->is_closed() && !engine->cannot_prepare_;
    return is_wanted && priority_for(engine->description_) == worker.priority &&
           !worker.prepared.contains(engine) && engine->given_up() == 0;
  };
  const auto found = std::ranges::find_if(engines_, wants);
  if (found == engines_.end()) return nullptr;
  const bool is_in_service = std::ranges::any_of(engines_, &Engine::in_service_);
  const bool is_other = std::ranges::any_of(
      workers_, [](const Worker& each) { return each.warms_up && !is_lost(each); });
  return is_in_service && is_other ? nullptr : *found;
}

/// Of those with a batch to be taken now, the engine that has had least of the workers' time for
/// its share. Null, too, where the only free place belongs to an engine that another free worker
/// has to run. `wake`: when the next batch is to be taken that waits for more requests.
Engine* Machine::most_behind(const Worker& worker, Clock::time_point& wake) const {
  const auto at_work = static_cast<size_t>(std::ranges::count_if(
      workers_, [](const Worker& each) { return !each.is_free() && !is_lost(each); }));
  if (at_work >= capacity_) return nullptr;
  Engine* best = nullptr;
  const Engine* best_of_others = nullptr;
  for (Engine* const engine : engines_) {
    const bool may_run = worker.prepared.contains(engine);
    const auto due = engine->queue_->next_batch();
    if (due > engine->options_.now()) {
      if (may_run) wake = std::min(wake, due);
    } else if (may_run) {
      if (best == nullptr || engine->served_ < best->served_) best = engine;
    } else if (is_left_to_others(*engine, worker)) {
      const bool is_first = best_of_others == nullptr || engine->served_ < best_of_others->served_;
      if (is_first) best_of_others = engine;
    }
  }
  const bool is_last_place = at_work + 1 == capacity_;
  const bool is_behind =
      best != nullptr && best_of_others != nullptr && best_of_others->served_ < best->served_;
  return is_last_place && is_behind ? nullptr : best;
}

/// Whether another free worker may run it. That one looks soon: see wait().
bool Machine::is_left_to_others(const Engine& engine, const Worker& worker) const {
  return std::ranges::any_of(workers_, [&](const Worker& each) {
    return &each != &worker && each.is_free() && each.prepared.contains(&engine);
  });
}

void Machine::work(Worker& worker) {
  Lock lock(mutex_);
  while (!ending_) {
    auto wake = Clock::time_point::max();
    if (Engine* const fresh = next_to_warm_up(worker)) {
      prepare(worker, *fresh, lock);
    } else if (Engine* const engine = most_behind(worker, wake)) {
      run(worker, *engine, lock);
    } else {
      wait(worker, wake, lock);
    }
  }
}

void Machine::wait(Worker& worker, Clock::time_point wake, Lock& lock) {
  worker.waits = true;
  worker.wakes_at = wake;
  wake_next();  // for what this worker may not do
  const auto is_woken = [&worker] { return !worker.waits; };
  if (wake == Clock::time_point::max()) {
    worker.changed.wait(lock, is_woken);
  } else {
    worker.changed.wait_until(lock, wake, is_woken);
  }
  worker.waits = false;
  worker.wakes_at = Clock::time_point::max();
}

/// A waiting worker that has something to do, by the same conditions as in work(): no worker is
/// woken in place of the one that may do it. Null: there is none. The caller has to notify it.
Machine::Worker* Machine::next_to_wake() {
  for (Worker& worker : workers_) {
    if (!worker.waits) continue;
    auto wake = Clock::time_point::max();
    if (next_to_warm_up(worker) == nullptr && most_behind(worker, wake) == nullptr) {
      const bool is_known = std::ranges::any_of(workers_, [&](const Worker& each) {
        return each.waits && each.priority == worker.priority && each.wakes_at <= wake;
      });
      if (is_known) continue;  // one looks again in time for a batch that waits for more requests
    }
    worker.waits = false;
    return &worker;
  }
  return nullptr;
}

bool Machine::wake_next() {
  Worker* const worker = next_to_wake();
  if (worker != nullptr) worker->changed.notify_one();
  return worker != nullptr;
}

/// After what several workers may have been waiting for.
void Machine::wake_all() {
  for (Worker& worker : workers_) {
    worker.waits = false;
    worker.changed.notify_one();
  }
}

void Machine::prepare(Worker& worker, Engine& engine, Lock& lock) {
  occupy(worker, &engine, std::nullopt);
  worker.warms_up = true;
  worker.begin(nullptr);
  ++engine.busy_;
  std::exception_ptr problem;
  try {
    worker.prepared.insert(&engine);
    wake_next();  // for a batch that came together with the engine
    if (engine.description_.uses_pool) make_pools(worker, engine, lock);
    if (lock.owns_lock()) lock.unlock();
    engine.prepare_worker(worker);
  } catch (...) {
    problem = std::current_exception();
  }
  if (!lock.owns_lock()) lock.lock();
  if (problem) {
    worker.prepared.erase(&engine);
    engine.cannot_prepare_ = problem;
  }
  worker.end();
  worker.warms_up = false;
  occupy(worker, nullptr, std::nullopt);
  engine.leave();
}

/// Threads are started without the lock, which requests are accepted with: those of the worker, and
/// those of the machine if nobody has begun to. They have the worker's priority. Its own pools are
/// read by others only while it runs a batch.
void Machine::make_pools(Worker& worker, const Engine& engine, Lock& lock) {
  const size_t own = engine.options_.threads_per_worker, all = engine.threads_alone();
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

/// The worker is at work on that from now on.
void Machine::occupy(Worker& worker, Engine* engine, std::optional<size_t> place) {
  worker.engine = engine;
  worker.place = place;
  worker.pool = nullptr;
  lend_pools();
}

/// A batch that runs while no other runs or waits has the cores of all, as long as that is so: of
/// several that began together the last has help to its end. The others have their own. Nobody
/// else uses the machine's pool then: whoever had it is done. It may still be in the making.
void Machine::lend_pools() {
  const bool is_none_behind =
      std::ranges::all_of(engines_, [](const Engine* each) { return each->queue_->size() == 0; });
  const bool is_one = std::ranges::count(workers_, false, &Worker::is_free) == 1;
  const bool has_all = is_none_behind && is_one;
  for (Worker& worker : workers_) {
    if (!worker.place) continue;
    const Engine& engine = *worker.engine;
    engine.queue_->runs().set_cores(*worker.place, has_all ? engine.options_.workers : 1);
    if (!engine.description_.uses_pool) continue;
    worker.pool = worker.pools.at(engine.options_.threads_per_worker).get();
    const ThreadPools& shared = shared_pools_[worker.priority];
    const auto pool = shared.find(engine.threads_alone());
    if (has_all && pool != shared.end() && pool->second) worker.pool = pool->second.get();
  }
}

void Machine::run(Worker& worker, Engine& engine, Lock& lock) {
  virtual_time_ = std::max(virtual_time_, engine.served_);
  Taken taken = engine.queue_->take_batch();
  const bool has_run = !taken.batch.empty();
  occupy(worker, &engine, has_run ? std::optional(taken.place) : std::nullopt);
  ++engine.busy_;
  engine.served_ += taken.expected / engine.share_;
  wake_next();  // for what is left
  lock.unlock();
  engine.end_as(Status::kDeadlineExceeded, taken.expired);
  const bool is_typical = has_run && engine.run_batch(taken.batch, worker);
  taken.batch.clear();
  lock.lock();
  if (has_run) {
    const double took = engine.queue_->runs().finish(taken.place, is_typical);
    if (is_typical) engine.served_ += (took - taken.expected) / engine.share_;
  }
  occupy(worker, nullptr, std::nullopt);
  engine.leave();
}

}  // namespace scheduler
