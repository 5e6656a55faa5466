// Runs of a model's requests, on the scheduler's threads.
#include <algorithm>
#include <exception>
#include <iterator>
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
    deliver_all(batch);
    return result->is_typical;
  }
  // A request must not fail because of others in its batch: each runs again alone. Its completion
  // is delivered before the next run, which may hang.
  bool is_typical = true;
  for (auto request = batch.begin(); request != batch.end(); ++request) {
    const auto alone = run_part(batch, {request, std::next(request)}, worker);
    if (!alone) return false;
    is_typical = is_typical && alone->is_typical;
    request->queue->deliver(std::move(request->completion));
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
    outputs = run_inputs(part, worker, is_typical);
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
  const auto inference_time = options_.now() - start;
  auto output = outputs.begin();
  for (auto& request : part) {
    Completion& completion = set_completion(request, status);
    if (status == Status::kOk) completion.output = std::move(*output++);
    if (status == Status::kTimedOut) completion.message = timeout_message(options_.run_limit);
    completion.queue_time = start - request.arrival - request.preparation_time;
    completion.inference_time = inference_time;
  }
  count_batches(part);
  // If several requests fail together, each runs again and gets its own message.
  if (status == Status::kFailed && size == 1)
    part.front().completion.front().message = std::move(message);
  return RunResult{.status = status, .is_typical = is_typical && status != Status::kTimedOut};
}

/// Runs the inputs of a part without a cached output. is_typical: set to false if an output was
/// cached.
std::vector<Output> ModelQueue::run_inputs(const Part& part, Scheduler::Worker& worker,
                                           bool& is_typical) {
  const auto run = [&](Batch inputs) { return backend_->run(inputs, worker.pool); };
  if (!cached_runs_) {
    std::vector<const PreparedInput*> inputs;
    for (const auto& request : part) inputs.push_back(request.prepared.get());
    return run(inputs);
  }
  std::vector<CachedRuns::Entry> entries;
  for (const auto& request : part) {
    entries.push_back({.runs = request.queue->cached_runs_.get(), .input = request.prepared.get()});
  }
  size_t computed = 0;
  std::vector<Output> outputs = CachedRuns::run(entries, run, computed);
  is_typical = computed == entries.size();
  return outputs;
}

/// Counts a run as a batch of each of its queues, and sets the batch of its completions: the
/// requests of their own queue.
void ModelQueue::count_batches(const Part& part) noexcept {
  for (auto first = part.begin(); first != part.end();) {
    ModelQueue& queue = *first->queue;
    const auto last = std::find_if(first, part.end(),
                                   [&](const Request& request) { return request.queue != &queue; });
    size_t tokens = 0, count = 0;
    for (auto request = first; request != last; ++request) {
      tokens += request->prepared->cost();
      count += request->count;
    }
    for (; first != last; ++first) {
      Completion& completion = first->completion.front();
      completion.batch_size = count;
      completion.batch_tokens = std::exchange(tokens, 0);
    }
    ++queue.batches_;
  }
}

/// Completes the requests of a hung run or preparation. Called by the watchdog; what the thread
/// returns later is discarded.
void ModelQueue::mark_timed_out(Requests& batch) noexcept {
  for (Request& request : batch) {
    if (request.completion.empty()) continue;
    set_completion(request, Status::kTimedOut).message =
        timeout_message(request.queue->options_.run_limit);
    Completions& completions = request.queue->watchdog_completions_;
    completions.splice(completions.end(), request.completion);
  }
}

/// Delivers the completions of a batch. The requests of a queue follow each other in it.
void ModelQueue::deliver_all(Requests& requests) noexcept {
  for (auto request = requests.begin(); request != requests.end();) {
    ModelQueue& queue = *request->queue;
    Completions completions;
    for (; request != requests.end() && request->queue == &queue; ++request) {
      completions.splice(completions.end(), request->completion);
    }
    queue.deliver(std::move(completions));
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
