#include "scheduler/engine.h"

#include <algorithm>
#include <utility>

#include "cached_runs.h"
#include "request_queue.h"
#include "worker.h"

namespace scheduler {
namespace {

Options for_model(Options options, const Description& description) {
  if (!description.batching) options.max_batch_requests = 1;
  return options;
}

/// A model of signals hardly sees a window twice.
std::unique_ptr<CachedRuns> cached_runs(const Options& options, const Description& description,
                                        const std::shared_ptr<Backend>& backend) {
  if (!options.results || !description.needs_preparation) return nullptr;
  return std::make_unique<CachedRuns>(options.results, backend);
}

}  // namespace

Engine::Engine(std::shared_ptr<Machine> machine, std::shared_ptr<Backend> backend, Options options,
               CompletionHandler on_completions)
    : machine_(std::move(machine)),
      backend_(std::move(backend)),
      description_(backend_->description()),
      options_(for_model(std::move(options), description_)),
      on_completions_(std::move(on_completions)),
      cached_(cached_runs(options_, description_, backend_)),
      queue_(std::make_unique<RequestQueue>(options_, description_.max_length)),
      share_(options_.share) {
  try {
    Machine::Lock lock(machine_->mutex_);
    machine_->add(*this, lock);
  } catch (...) {
    abort();
    throw;
  }
}

Engine::~Engine() { abort(); }

Admission Engine::submit(uint64_t first_ticket, std::vector<InputPtr> inputs,
                         Clock::time_point deadline) {
  if (inputs.empty()) return {};
  const bool ready = !description_.needs_preparation;
  const auto arrival = options_.now();
  Requests requests;
  for (auto& input : inputs) {
    Request& request = requests.emplace_back();
    request.ticket = first_ticket++;
    request.bytes = input->bytes();
    request.input = std::move(input);
    request.arrival = arrival;
    request.deadline = deadline;
    if (ready) request.prepared = backend_->prepare(std::move(request.input));
  }
  const size_t count = requests.size();
  Machine::Lock lock(machine_->mutex_);
  // A model without work has saved nothing up.
  if (busy_ == 0 && queue_->size() == 0) served_ = std::max(served_, machine_->virtual_time_);
  const Admission admission = queue_->push(requests, ready, machine_->work_beside(*this));
  if (admission.status != Status::kOk) {
    ended_.at(static_cast<size_t>(admission.status)) += count;
    return admission;
  }
  in_service_ = true;
  // Threads are notified without the lock, so that one that wakes does not find it taken.
  if (ready) {
    Machine::Worker* const worker = machine_->next_to_wake();
    for (size_t others = count - 1; others > 0 && machine_->wake_next();) --others;
    lock.unlock();
    if (worker != nullptr) worker->changed.notify_one();
    return admission;
  }
  const bool has_long = queue_->next_arrival(Lane::kLong) != Clock::time_point::max();
  lock.unlock();
  arrived_changed(Lane::kShort).notify_one();
  if (has_long) arrived_changed(Lane::kLong).notify_one();
  return admission;
}

Admission Engine::admission(Clock::time_point deadline) const {
  const Machine::Lock lock(machine_->mutex_);
  return queue_->admission(deadline, machine_->work_beside(*this));
}

void Engine::cancel(uint64_t ticket) {
  Machine::Lock lock(machine_->mutex_);
  Requests removed = queue_->remove(ticket);
  machine_->engine_changed_.notify_all();
  lock.unlock();
  end_as(Status::kCancelled, removed);
}

Statistics Engine::statistics() const {
  const auto count = [this](Status status) -> uint64_t {
    return ended_.at(static_cast<size_t>(status));
  };
  const Machine::Lock lock(machine_->mutex_);
  Clock::duration stuck_for{0};
  for (const Machine::Worker& worker : machine_->workers_) {
    if (worker.engine != this || !worker.is_stuck) continue;
    stuck_for = std::max(stuck_for, Clock::now() - worker.start);
  }
  Statistics statistics{.queue_requests = queue_->size(),
                        .queue_requests_limit = options_.max_queue_requests,
                        .queue_bytes = queue_->bytes(),
                        .queue_bytes_limit = options_.max_queue_bytes,
                        .queue_wait = queue_->wait(Lane::kShort, machine_->work_beside(*this)),
                        .queue_wait_limit = options_.max_queue_wait,
                        .completed = count(Status::kOk),
                        .failed = count(Status::kFailed),
                        .refused = count(Status::kQueueFull) + count(Status::kWaitTooLong) +
                                   count(Status::kDeadlineTooClose) + count(Status::kDraining),
                        .cancelled = count(Status::kCancelled),
                        .expired = count(Status::kDeadlineExceeded),
                        .timed_out = count(Status::kTimedOut),
                        .too_long = count(Status::kTooLong),
                        .batches = batches_,
                        .stuck_for = stuck_for};
  if (cached_) {
    statistics.cache_hits = cached_->counts().hits;
    statistics.cache_misses = cached_->counts().misses;
    statistics.cache_bytes = cached_->counts().bytes;
  }
  return statistics;
}

void Engine::close() {
  Machine::Lock lock(machine_->mutex_);
  queue_->close();
  machine_->wake_all();  // some may wait for more requests
  machine_->engine_changed_.wait(
      lock, [this] { return abandoned_ || (queue_->size() == 0 && busy_ == given_up()); });
}

void Engine::set_share(double share) {
  const Machine::Lock lock(machine_->mutex_);
  share_ = share;
}

void Engine::drop() {
  Machine::Lock lock(machine_->mutex_);
  Requests waiting = queue_->close_and_clear();
  machine_->engine_changed_.notify_all();
  lock.unlock();
  end_as(Status::kDraining, waiting);
}

void Engine::abort() {
  drop();
  Machine::Lock lock(machine_->mutex_);
  machine_->engine_changed_.wait(lock, [this] { return busy_ == 0; });
  machine_->remove(*this, lock);
}

bool Engine::abort_within(Clock::duration patience) {
  drop();
  Machine::Lock lock(machine_->mutex_);
  abandoned_ = true;
  machine_->engine_changed_.notify_all();
  machine_->engine_changed_.wait_for(lock, patience, [this] { return busy_ == given_up(); });
  if (busy_ > 0) {
    machine_->replace_lost();
    return false;
  }
  machine_->remove(*this, lock);
  return true;
}

/// A thread of the machine has done what it was at.
void Engine::leave() {
  --busy_;
  machine_->engine_changed_.notify_all();
}

/// Runs that have not come back.
size_t Engine::given_up() const {
  const auto& workers = machine_->workers_;
  return static_cast<size_t>(std::ranges::count_if(workers, [this](const Machine::Worker& worker) {
    return worker.engine == this && worker.is_stuck;
  }));
}

}  // namespace scheduler
