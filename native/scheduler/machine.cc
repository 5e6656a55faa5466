#include "scheduler/machine.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "ending.h"
#include "scheduler/engine.h"
#include "request_queue.h"
#include "worker.h"
#include "worker_thread.h"

namespace scheduler {

Machine::Machine() = default;

Machine::~Machine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    wake_all();
  }
  watch_changed_.notify_all();
  for (Worker& worker : workers_) worker.thread.join();
  if (watchdog_.joinable()) watchdog_.join();
}

void Machine::add(Engine& engine, Lock& lock) {
  engines_.push_back(&engine);
  capacity_ = std::max(capacity_, engine.options_.workers);
  engine.served_ = virtual_time_;
  start_others(engine);
  start_workers(priority_for(engine.description_));
  wake_all();
  engine_changed_.wait(lock, [&] { return engine.cannot_prepare_ || is_ready_for(engine); });
  if (engine.cannot_prepare_) std::rethrow_exception(engine.cannot_prepare_);
}

/// No thread is at work on it.
void Machine::remove(Engine& engine, Lock& lock) {
  std::erase(engines_, &engine);
  for (Worker& worker : workers_) worker.prepared.erase(&engine);
  engine.leaves_ = true;
  for (auto& changed : engine.arrived_changed_) changed.notify_all();
  std::vector<std::thread> tokenizers = std::exchange(engine.tokenizers_, {});
  lock.unlock();
  for (std::thread& thread : tokenizers) thread.join();
  lock.lock();
}

/// Some worker is prepared, and none is free to be.
bool Machine::is_ready_for(const Engine& engine) const {
  bool is_prepared = false;
  for (const Worker& worker : workers_) {
    if (worker.priority != priority_for(engine.description_)) continue;
    if (worker.engine == &engine) return false;  // it is being prepared
    const bool may_run = worker.prepared.contains(&engine);
    if (!may_run && worker.is_free()) return false;
    is_prepared = is_prepared || may_run;
  }
  return is_prepared;
}

/// Nobody knows when it comes back: its run was given up, or its engine.
bool Machine::is_lost(const Worker& worker) {
  return worker.is_stuck || (!worker.is_free() && worker.engine->abandoned_);
}

/// All that lack; of those that are lost none is counted where other models could use another.
void Machine::start_workers(Priority priority) {
  size_t models = 0, needed = 0, there = 0;
  for (const Engine* const engine : engines_) {
    if (priority_for(engine->description_) != priority) continue;
    ++models;
    needed = std::max(needed, engine->options_.workers);
  }
  for (const Worker& worker : workers_) {
    if (worker.priority == priority && !(models > 1 && is_lost(worker))) ++there;
  }
  for (; there < needed; ++there) {
    Worker& worker = workers_.emplace_back(priority);
    try {
      worker.thread = std::thread([this, &worker] {
        set_up_engine_thread("inference", worker.priority);
        work(worker);
      });
    } catch (...) {
      workers_.pop_back();
      throw;
    }
  }
}

/// Where that cannot be, for want of threads or memory, the others have fewer workers.
void Machine::replace_lost() noexcept {
  engine_changed_.notify_all();
  try {
    for (const Priority priority : {Priority::kEqual, Priority::kLower}) start_workers(priority);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
  wake_all();  // what is lost takes no other model's place
}

void Machine::start_others(Engine& engine) {
  if (!watchdog_.joinable()) {
    watchdog_ = std::thread([this] {
      set_up_engine_thread("watchdog", Priority::kEqual);
      watch();
    });
  }
  if (!engine.description_.needs_preparation) return;
  const auto start = [&](const char* name, Priority priority, Lane lane) {
    engine.tokenizers_.emplace_back([this, &engine, name, priority, lane] {
      set_up_engine_thread(name, priority);
      prepare_inputs(engine, lane);
    });
  };
  start("tokenization", Priority::kEqual, Lane::kShort);
  start("long texts", Priority::kLower, Lane::kLong);
}

/// Worker's time that other models have before a request that comes to this one now, in seconds: in
/// the time that its own work takes, each of them has as much of its own done for its share.
double Machine::work_beside(const Engine& engine) const {
  if (engines_.size() < 2) return 0;
  const double own = engine.queue_->work();
  double beside = 0;
  for (const Engine* each : engines_) {
    const double for_share = own * each->share_ / engine.share_;
    if (each != &engine) beside += std::min(each->queue_->work(), for_share);
  }
  return beside;
}

}  // namespace scheduler
