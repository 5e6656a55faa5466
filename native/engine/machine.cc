#include "engine/machine.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "ending.h"
#include "engine/engine.h"
#include "request_queue.h"
#include "worker.h"
#include "worker_thread.h"

namespace engine {
namespace {

/// The requests of a signal model keep the event loop busy, and it must win. Those of a text model
/// hardly do, and with a lower priority another process would take a core from it nearly whole.
Priority priority_for(const Description& model) {
  return model.needs_preparation ? Priority::kEqual : Priority::kLower;
}

}  // namespace

Machine::Machine() = default;

Machine::~Machine() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  work_changed_.notify_all();
  watch_changed_.notify_all();
  for (auto& changed : arrived_changed_) changed.notify_all();
  for (Worker& worker : workers_) worker.thread.join();
  for (auto& [name, thread] : others_) thread.join();
}

void Machine::add(Engine& engine, Lock& lock) {
  engines_.push_back(&engine);
  capacity_ = std::max(capacity_, engine.options_.workers);
  engine.served_ = virtual_time_;
  start_others(engine);
  start_workers(engine);
  work_changed_.notify_all();
  engine_changed_.wait(lock, [&] { return engine.cannot_prepare_ || is_ready_for(engine); });
  if (engine.cannot_prepare_) std::rethrow_exception(engine.cannot_prepare_);
}

void Machine::remove(const Engine& engine) {
  std::erase(engines_, &engine);
  for (Worker& worker : workers_) worker.prepared.erase(&engine);
}

/// Some worker is prepared, and none is free to be.
bool Machine::is_ready_for(const Engine& engine) const {
  bool is_prepared = false;
  for (const Worker& worker : workers_) {
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
void Machine::start_workers(const Engine& engine) {
  const auto lost = std::ranges::count_if(workers_, is_lost);
  const size_t needed = capacity_ + (engines_.size() > 1 ? static_cast<size_t>(lost) : 0);
  const Priority priority = priority_for(engine.description_);
  while (workers_.size() < needed) {
    Worker& worker = workers_.emplace_back();
    try {
      worker.thread = std::thread([this, &worker, priority] {
        set_up_engine_thread("inference", priority);
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
    if (!engines_.empty()) start_workers(*engines_.front());
  } catch (const std::exception&) {
    return;
  }
}

void Machine::start_others(const Engine& engine) {
  const auto start = [this](const char* name, Priority priority, const auto& body) {
    others_.try_emplace(name, [name, priority, body] {
      set_up_engine_thread(name, priority);
      body();
    });
  };
  start("watchdog", Priority::kEqual, [this] { watch(); });
  if (!engine.description_.needs_preparation) return;
  start("tokenization", Priority::kEqual, [this] { prepare_inputs(Lane::kShort); });
  start("long texts", Priority::kLower, [this] { prepare_inputs(Lane::kLong); });
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

Engine* Machine::unprepared(const Worker& worker) const {
  const auto found = std::ranges::find_if(engines_, [&](const Engine* engine) {
    const bool is_wanted = !engine->queue_->is_closed() && !engine->cannot_prepare_;
    return is_wanted && !worker.prepared.contains(engine) && engine->given_up() == 0;
  });
  return found != engines_.end() ? *found : nullptr;
}

/// Of those with a batch to be taken now, the engine that has had least of the workers' time for
/// its share. `wake`: when the next batch is to be taken that waits for more requests.
Engine* Machine::most_behind(const Worker& worker, Clock::time_point& wake) const {
  const auto at_work = std::ranges::count_if(
      workers_, [](const Worker& each) { return !each.is_free() && !is_lost(each); });
  if (static_cast<size_t>(at_work) >= capacity_) return nullptr;
  Engine* best = nullptr;
  for (Engine* const engine : engines_) {
    if (!worker.prepared.contains(engine)) continue;
    const auto due = engine->queue_->next_batch();
    if (due > engine->options_.now()) {
      wake = std::min(wake, due);
    } else if (best == nullptr || engine->served_ < best->served_) {
      best = engine;
    }
  }
  return best;
}

void Machine::work(Worker& worker) {
  Lock lock(mutex_);
  while (!ending_) {
    auto wake = Clock::time_point::max();
    if (Engine* const fresh = unprepared(worker)) {
      prepare(worker, *fresh, lock);
    } else if (Engine* const engine = most_behind(worker, wake)) {
      run(worker, *engine, lock);
    } else if (wake == Clock::time_point::max()) {
      work_changed_.wait(lock);
    } else {
      work_changed_.wait_until(lock, wake);
    }
  }
}

/// The helpers that are started have the caller's priority.
gemm::ThreadPool* Machine::pool_of(ThreadPools& pools, size_t threads) {
  auto& pool = pools[threads];
  if (!pool) pool = std::make_unique<gemm::ThreadPool>(static_cast<int>(threads) - 1);
  return pool.get();
}

void Machine::prepare(Worker& worker, Engine& engine, Lock& lock) {
  occupy(worker, &engine, std::nullopt);
  worker.begin(nullptr);
  ++engine.busy_;
  std::exception_ptr problem;
  try {
    worker.prepared.insert(&engine);
    if (engine.description_.uses_pool) {
      worker.pool = pool_of(worker.pools, engine.options_.threads_per_worker);
      pool_of(shared_pools_, engine.threads_alone());
    }
    lock.unlock();
    engine.prepare_worker(worker.pool);
  } catch (...) {
    problem = std::current_exception();
  }
  if (!lock.owns_lock()) lock.lock();
  if (problem) {
    worker.prepared.erase(&engine);
    engine.cannot_prepare_ = problem;
  }
  worker.end();
  occupy(worker, nullptr, std::nullopt);
  engine.leave();
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
/// else uses the machine's pool then: whoever had it is done.
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
    worker.pool = has_all ? shared_pools_.at(engine.threads_alone()).get()
                          : worker.pools.at(engine.options_.threads_per_worker).get();
  }
}

void Machine::run(Worker& worker, Engine& engine, Lock& lock) {
  virtual_time_ = std::max(virtual_time_, engine.served_);
  Taken taken = engine.queue_->take_batch();
  const bool has_run = !taken.batch.empty();
  occupy(worker, &engine, has_run ? std::optional(taken.place) : std::nullopt);
  ++engine.busy_;
  engine.served_ += taken.expected / engine.share_;
  const bool is_more = std::ranges::any_of(engines_, [](const Engine* each) {
    return each->queue_->next_batch() != Clock::time_point::max();
  });
  if (is_more) work_changed_.notify_one();
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

void Machine::prepare_inputs(Lane lane) {
  Lock lock(mutex_);
  while (!ending_) {
    const auto first = std::ranges::min_element(
        engines_, {}, [lane](const Engine* each) { return each->queue_->next_arrival(lane); });
    if (first == engines_.end() ||
        (*first)->queue_->next_arrival(lane) == Clock::time_point::max()) {
      arrived_changed(lane).wait(lock);
    } else {
      prepare_next(**first, lane, lock);
    }
  }
}

void Machine::prepare_next(Engine& engine, Lane lane, Lock& lock) {
  Taken taken = engine.queue_->take_arrived(lane);
  ++engine.busy_;
  lock.unlock();
  engine.end_as(Status::kDeadlineExceeded, taken.expired);
  const bool is_prepared = !taken.batch.empty() && engine.prepare(taken.batch.front());
  lock.lock();
  Completions ended;
  if (is_prepared) {
    if (engine.queue_->push_ready(taken.batch)) {
      work_changed_.notify_one();
    } else {
      end_all(taken.batch, Status::kDraining, ended);
    }
  } else if (!taken.batch.empty()) {
    engine.queue_->drop_arrived(taken.batch.front());
    ended.splice(ended.end(), taken.batch.front().ending);
  }
  if (!ended.empty()) {
    lock.unlock();
    engine.complete(std::move(ended));
    lock.lock();
  }
  engine.leave();
}

}  // namespace engine
