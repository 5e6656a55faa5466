// Runs of a model's requests, on the scheduler's threads.
#include <exception>
#include <ranges>
#include <utility>

#include "completion.h"
#include "request_queue.h"
#include "scheduler/cached_runs.h"
#include "scheduler/model_queue.h"
#include "worker.h"

namespace scheduler {

/// Consecutive requests of a batch that run together.
struct ModelQueue::Part : std::ranges::subrange<Requests::iterator> {
  using subrange::subrange;
};

struct ModelQueue::RunResult {
  Status status;    ///< kOk, kTimedOut or kFailed
  bool is_typical;  ///< the run time is a valid sample of the model's speed
};

/// Warms up a worker, and measures a batch of one input and a larger batch, so that the queue wait
/// is known before the first request. The larger batch is full, or takes about 250 ms. It is
/// omitted while other models serve requests, because it would take a worker from them.
void ModelQueue::warm_up_worker(Scheduler::Worker& worker, bool is_in_service) {
  constexpr std::chrono::milliseconds kMaxTime{250};
  constexpr size_t kMaxCount = 256;  // the time of larger batches is proportional
  const PreparedPtr sample = backend_->prepare_thread(worker.pool);
  if (!sample) return;
  const auto alone = measure(*sample, 1, worker);
  if (!alone || is_in_service) return;
  const size_t full =
      std::min(options_.max_batch_requests, options_.max_batch_tokens / sample->cost());
  const auto within_max_time = static_cast<size_t>(kMaxTime / std::max(*alone, Clock::duration(1)));
  const size_t count = std::min({full, kMaxCount, std::max(within_max_time, size_t{2})});
  if (count > 1) measure(*sample, count, worker);
}

/// Measures a run of `count` copies of the sample; empty if the run fails.
std::optional<Clock::duration> ModelQueue::measure(const PreparedInput& sample, size_t count,
                                                   Scheduler::Worker& worker) {
  const std::vector<const PreparedInput*> batch(count, &sample);
  const auto start = options_.now();
  try {
    backend_->run(batch, worker.pool);
  } catch (const BackendError&) {
    return std::nullopt;  // requests report the error
  }
  const auto time = options_.now() - start;
  const Scheduler::Lock lock(scheduler_->mutex_);
  requests_->runs().learn_run(sample.cost() * count, time);
  worker.end();
  worker.begin(nullptr);  // restarts the time limit
  return time;
}

/// Runs a batch and delivers its completions. Returns true if the run time is a valid sample.
bool ModelQueue::run_batch(Requests& batch, Scheduler::Worker& worker) {
  const std::optional<RunResult> result = run_part(batch, {batch.begin(), batch.end()}, worker);
  if (!result) return false;
  if (result->status != Status::kFailed || batch.size() == 1) {
    Completions completions;
    for (auto& request : batch) completions.splice(completions.end(), request.completion);
    deliver(std::move(completions));
    return result->is_typical;
  }
  // A request must not fail because of others in its batch: each runs again alone. Its completion
  // is delivered before the next run, which may hang.
  bool is_typical = true;
  for (auto request = batch.begin(); request != batch.end(); ++request) {
    const auto alone = run_part(batch, {request, std::next(request)}, worker);
    if (!alone) return false;
    is_typical = is_typical && alone->is_typical;
    deliver(std::move(request->completion));
  }
  return is_typical;
}

/// Runs a part of a batch and fills in its completions, which have the same status. Empty if the
/// run exceeded its time limit: the watchdog has then delivered all completions of the batch.
std::optional<ModelQueue::RunResult> ModelQueue::run_part(Requests& batch, const Part& part,
                                                          Scheduler::Worker& worker) noexcept {
  const auto start = options_.now();
  const auto size = static_cast<size_t>(std::ranges::distance(part));
  std::vector<Output> outputs;
  std::string message;
  Status status = Status::kOk;
  bool is_typical = true;
  {
    const Scheduler::Lock lock(scheduler_->mutex_);
    worker.begin(&batch);
  }
  try {
    std::vector<const PreparedInput*> inputs;
    inputs.reserve(size);
    for (const auto& request : part) inputs.push_back(request.prepared.get());
    const auto run = [&](Batch some) { return backend_->run(some, worker.pool); };
    outputs = cached_runs_ ? cached_runs_->run(inputs, run, is_typical) : run(inputs);
    if (outputs.size() != size) throw BackendError("the model returned fewer outputs than inputs");
  } catch (const RunTimeout&) {
    status = Status::kTimedOut;
  } catch (...) {
    status = Status::kFailed;
    message = current_message();
  }
  {
    const Scheduler::Lock lock(scheduler_->mutex_);
    if (!worker.end()) return std::nullopt;
  }
  ++batches_;
  const auto inference_time = options_.now() - start;
  auto output = outputs.begin();
  size_t tokens = 0, count = 0;
  for (const auto& request : part) {
    tokens += request.prepared->cost();
    count += request.count;
  }
  for (auto& request : part) {
    Completion& completion = set_completion(request, status);
    if (status == Status::kOk) completion.output = std::move(*output++);
    if (status == Status::kTimedOut) completion.message = timeout_message(options_.run_limit);
    completion.batch_size = count;
    completion.batch_tokens = std::exchange(tokens, 0);
    completion.queue_time = start - request.arrival - request.preparation_time;
    completion.inference_time = inference_time;
  }
  // If several requests fail together, each runs again and gets its own message.
  if (status == Status::kFailed && size == 1)
    part.front().completion.front().message = std::move(message);
  return RunResult{.status = status, .is_typical = is_typical && status != Status::kTimedOut};
}

/// Completes the requests of a hung run or preparation. Called by the watchdog; what the thread
/// returns later is discarded.
void ModelQueue::mark_timed_out(Requests& batch) noexcept {
  for (Request& request : batch) {
    if (request.completion.empty()) continue;
    set_completion(request, Status::kTimedOut).message = timeout_message(options_.run_limit);
    watchdog_completions_.splice(watchdog_completions_.end(), request.completion);
  }
}

void ModelQueue::complete_as(Status status, Requests& requests) noexcept {
  Completions completions;
  complete_all(requests, status, completions);
  deliver(std::move(completions));
}

void ModelQueue::deliver(Completions completions) noexcept {
  if (completions.empty()) return;
  for (const auto& completion : completions) {
    counts_.at(static_cast<size_t>(completion.status)) += completion.count;
  }
  on_completions_(std::move(completions));
}

}  // namespace scheduler
