#include "scheduler/model_queue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "request_queue.h"
#include "scheduler/cached_runs.h"
#include "tokenizer.h"
#include "worker.h"

namespace scheduler {
namespace {

Options for_model(Options options, const Description& description) {
  if (!description.batching) options.max_batch_requests = 1;
  return options;
}

/// Null without a cache, and for signal models, which rarely see a window twice.
std::unique_ptr<CachedRuns> create_cached_runs(const Options& options,
                                               const Description& description) {
  if (!options.results || !description.needs_preparation) return nullptr;
  return std::make_unique<CachedRuns>(options.results);
}

}  // namespace

ModelQueue::ModelQueue(std::shared_ptr<Scheduler> scheduler, std::shared_ptr<Backend> backend,
                       Options options, CompletionHandler on_completions)
    : scheduler_(std::move(scheduler)),
      backend_(std::move(backend)),
      description_(backend_->description()),
      options_(for_model(std::move(options), description_)),
      on_completions_(std::move(on_completions)),
      cached_runs_(create_cached_runs(options_, description_)),
      requests_(std::make_unique<RequestQueue>(options_, description_.max_length)),
      weight_(options_.weight) {
  try {
    Scheduler::Lock lock(scheduler_->mutex_);
    scheduler_->add(*this, lock);
  } catch (...) {
    abort();
    throw;
  }
}

ModelQueue::~ModelQueue() { abort(); }

Admission ModelQueue::submit(uint64_t first_ticket, std::vector<InputPtr> inputs,
                             Clock::time_point deadline) {
  if (inputs.empty()) return {};
  const bool ready = !description_.needs_preparation;
  const auto arrival = options_.now();
  Requests requests;
  size_t count = 0;
  for (auto& input : inputs) {
    Request& request = requests.emplace_back();
    request.ticket = first_ticket++;
    request.bytes = input->bytes();
    request.count = input->count();
    count += request.count;
    request.input = std::move(input);
    request.arrival = arrival;
    request.deadline = deadline;
    if (ready) request.prepared = backend_->prepare(std::move(request.input));
  }
  const size_t size = requests.size();
  Scheduler::Lock lock(scheduler_->mutex_);
  // An idle model accumulates no credit.
  if (busy_threads_ == 0 && requests_->size() == 0)
    virtual_runtime_ = std::max(virtual_runtime_, scheduler_->virtual_time_);
  const Admission admission =
      requests_->push(requests, ready, scheduler_->competing_seconds(*this));
  if (admission.status != Status::kOk) {
    counts_.at(static_cast<size_t>(admission.status)) += count;
    return admission;
  }
  in_service_ = true;
  // Threads are notified after unlocking, so that they do not block on the lock when they wake.
  if (ready) {
    Scheduler::Worker* const worker = scheduler_->next_to_wake();
    for (size_t remaining = size - 1; remaining > 0 && scheduler_->wake_next();) --remaining;
    lock.unlock();
    if (worker != nullptr) worker->changed.notify_one();
    return admission;
  }
  std::array<bool, kTokenizationClasses.size()> is_waiting{};
  for (const TokenizationClass input_class : kTokenizationClasses) {
    if (requests_->next_arrival(input_class) == Clock::time_point::max()) continue;
    is_waiting.at(static_cast<size_t>(input_class)) = true;
    scheduler_->add_tokenizer(*this, input_class);
  }
  lock.unlock();
  for (const TokenizationClass input_class : kTokenizationClasses) {
    if (!is_waiting.at(static_cast<size_t>(input_class))) continue;
    if (size > 1) {
      arrived_changed(input_class).notify_all();
    } else {
      arrived_changed(input_class).notify_one();
    }
  }
  return admission;
}

Admission ModelQueue::admission(Clock::time_point deadline) const {
  const Scheduler::Lock lock(scheduler_->mutex_);
  return requests_->admission(deadline, scheduler_->competing_seconds(*this));
}

void ModelQueue::cancel(uint64_t ticket) {
  Scheduler::Lock lock(scheduler_->mutex_);
  Requests removed = requests_->remove(ticket);
  discard_preparations(removed);
  scheduler_->queue_changed_.notify_all();
  lock.unlock();
  complete_as(Status::kCancelled, removed);
}

Statistics ModelQueue::statistics() const {
  const auto count = [this](Status status) -> uint64_t {
    return counts_.at(static_cast<size_t>(status));
  };
  const Scheduler::Lock lock(scheduler_->mutex_);
  Clock::duration hung_for{0};
  for (const Scheduler::Worker& worker : scheduler_->workers_) {
    if (worker.queue != this || !worker.hung) continue;
    hung_for = std::max(hung_for, Clock::now() - worker.start);
  }
  for (const Scheduler::Tokenizer& tokenizer : tokenizers_) {
    if (tokenizer.hung && tokenizer.busy) {
      hung_for = std::max(hung_for, Clock::now() - tokenizer.start);
    }
  }
  Statistics statistics{.queue_requests = requests_->size(),
                        .queue_requests_limit = options_.max_queue_requests,
                        .queue_bytes = requests_->bytes(),
                        .queue_bytes_limit = options_.max_queue_bytes,
                        .queue_wait = requests_->wait(TokenizationClass::kShort,
                                                      scheduler_->competing_seconds(*this)),
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
                        .reused_states = backend_->reused_states(),
                        .hung_for = hung_for};
  if (cached_runs_) {
    statistics.cache_hits = cached_runs_->counts().hits;
    statistics.cache_misses = cached_runs_->counts().misses;
    statistics.cache_bytes = cached_runs_->counts().bytes;
  }
  return statistics;
}

void ModelQueue::close() {
  Scheduler::Lock lock(scheduler_->mutex_);
  requests_->close();
  scheduler_->wake_all();  // workers stop waiting for further requests
  scheduler_->queue_changed_.wait(lock, [this] {
    return abandoned_ || (requests_->size() == 0 && busy_threads_ == hung_runs());
  });
}

void ModelQueue::set_weight(double weight) {
  const Scheduler::Lock lock(scheduler_->mutex_);
  weight_ = weight;
}

void ModelQueue::drop() {
  Scheduler::Lock lock(scheduler_->mutex_);
  Requests waiting = requests_->close_and_clear();
  discard_preparations(waiting);
  scheduler_->queue_changed_.notify_all();
  lock.unlock();
  complete_as(Status::kDraining, waiting);
}

void ModelQueue::abort() {
  drop();
  Scheduler::Lock lock(scheduler_->mutex_);
  scheduler_->queue_changed_.wait(lock, [this] { return busy_threads_ == 0; });
  scheduler_->remove(*this, lock);
}

bool ModelQueue::abort_within(Clock::duration timeout) {
  drop();
  Scheduler::Lock lock(scheduler_->mutex_);
  abandoned_ = true;
  scheduler_->queue_changed_.notify_all();
  scheduler_->queue_changed_.wait_for(lock, timeout,
                                      [this] { return busy_threads_ == hung_runs(); });
  if (busy_threads_ > 0) {
    scheduler_->replace_abandoned();
    return false;
  }
  scheduler_->remove(*this, lock);
  return true;
}

/// Called when a thread of the scheduler has finished its work for this queue.
void ModelQueue::release_thread() {
  --busy_threads_;
  scheduler_->queue_changed_.notify_all();
}

/// Number of runs and preparations that have exceeded their time limit and have not returned.
size_t ModelQueue::hung_runs() const {
  const auto runs = std::ranges::count_if(
      scheduler_->workers_,
      [this](const Scheduler::Worker& worker) { return worker.queue == this && worker.hung; });
  const auto preparations = std::ranges::count_if(
      tokenizers_,
      [](const Scheduler::Tokenizer& tokenizer) { return tokenizer.hung && tokenizer.busy; });
  return static_cast<size_t>(runs + preparations);
}

}  // namespace scheduler
