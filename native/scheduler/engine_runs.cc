// What the machine's threads do for an engine.
#include <exception>
#include <ranges>
#include <utility>

#include "cached_runs.h"
#include "ending.h"
#include "scheduler/engine.h"
#include "request_queue.h"
#include "worker.h"

namespace scheduler {

/// Some of a batch, which run together.
struct Engine::Part : std::ranges::subrange<Requests::iterator> {
  using subrange::subrange;
};

/// How they ran.
struct Engine::Ran {
  Status status;    ///< kOk, kTimedOut or kFailed
  bool is_typical;  ///< the time it took says something of the pace
};

/// Fills in the sequence. False: it cannot be had, or is not to be run, and how the request ended
/// is written down.
bool Engine::prepare(Request& request) noexcept {
  const auto start = options_.now();
  try {
    request.prepared = backend_->prepare(std::move(request.input));
    request.preparation_time = options_.now() - start;
    if (request.prepared->needs_run()) {
      const auto known = cached_ ? cached_->find(*request.prepared) : nullptr;
      if (!known) return true;
      request.ending.front().output = *known;
    }
    end(request, Status::kOk).queue_time = start - request.arrival;
    return false;
  } catch (const InputTooLong&) {
    end(request, Status::kTooLong).message = current_message();
  } catch (...) {
    end(request, Status::kFailed).message = current_message();
  }
  return false;
}

/// So that the queue can tell its wait from the first request on: from the times of one input and
/// of as many as share a batch, or as many as run in a moment.
void Engine::prepare_worker(Machine::Worker& worker) {
  constexpr std::chrono::milliseconds kMoment{250};
  constexpr size_t kMost = 256;  // beyond, a batch takes in proportion
  const PreparedPtr sample = backend_->prepare_thread(worker.pool);
  if (!sample) return;
  const auto alone = measure(*sample, 1, worker);
  if (!alone) return;
  const size_t full =
      std::min(options_.max_batch_requests, options_.max_batch_tokens / sample->cost());
  const auto in_a_moment = static_cast<size_t>(kMoment / std::max(*alone, Clock::duration(1)));
  const size_t count = std::min({full, kMost, std::max(in_a_moment, size_t{2})});
  if (count > 1) measure(*sample, count, worker);
}

/// Runs a batch of that one sequence. Nothing: it failed.
std::optional<Clock::duration> Engine::measure(const PreparedInput& sample, size_t count,
                                               Machine::Worker& worker) {
  const std::vector<const PreparedInput*> batch(count, &sample);
  const auto start = options_.now();
  try {
    backend_->run(batch, worker.pool);
  } catch (const BackendError&) {
    return std::nullopt;  // a request that fails like this is told so
  }
  const auto time = options_.now() - start;
  const Machine::Lock lock(machine_->mutex_);
  queue_->runs().learn_run(sample.cost() * count, time);
  worker.end();
  worker.begin(nullptr);  // the limit of a run is that of the next one
  return time;
}

/// Returns whether the time it took says something of the pace.
bool Engine::run_batch(Requests& batch, Machine::Worker& worker) {
  const std::optional<Ran> ran = run_together(batch, {batch.begin(), batch.end()}, worker);
  if (!ran) return false;
  if (ran->status != Status::kFailed || batch.size() == 1) {
    Completions ended;
    for (auto& request : batch) ended.splice(ended.end(), request.ending);
    complete(std::move(ended));
    return ran->is_typical;
  }
  // One request must not take its neighbours down: each again, alone. Each is answered before the
  // next one runs, which may not come back.
  bool is_typical = true;
  for (auto request = batch.begin(); request != batch.end(); ++request) {
    const auto own = run_together(batch, {request, std::next(request)}, worker);
    if (!own) return false;
    is_typical = is_typical && own->is_typical;
    complete(std::move(request->ending));
  }
  return is_typical;
}

/// Writes down how each of the part ended: all of them kOk, all kTimedOut, or all kFailed, which is
/// returned. Nothing: it took too long, and all of the batch that had no answer have been told so.
std::optional<Engine::Ran> Engine::run_together(Requests& batch, const Part& part,
                                                Machine::Worker& worker) noexcept {
  const auto start = options_.now();
  const auto size = static_cast<size_t>(std::ranges::distance(part));
  std::vector<Output> outputs;
  std::string message;
  Status status = Status::kOk;
  bool is_typical = true;
  {
    const Machine::Lock lock(machine_->mutex_);
    worker.begin(&batch);
  }
  try {
    std::vector<const PreparedInput*> inputs;
    inputs.reserve(size);
    for (const auto& request : part) inputs.push_back(request.prepared.get());
    outputs = cached_ ? cached_->run(inputs, worker.pool, is_typical)
                      : backend_->run(inputs, worker.pool);
    if (outputs.size() != size) throw BackendError("the model left inputs unanswered");
  } catch (const RunTimeout&) {
    status = Status::kTimedOut;
  } catch (...) {
    status = Status::kFailed;
    message = current_message();
  }
  {
    const Machine::Lock lock(machine_->mutex_);
    if (!worker.end()) return std::nullopt;
  }
  ++batches_;
  const auto inference_time = options_.now() - start;
  auto output = outputs.begin();
  size_t tokens = 0;
  for (const auto& request : part) tokens += request.prepared->cost();
  for (auto& request : part) {
    Completion& completion = end(request, status);
    if (status == Status::kOk) completion.output = std::move(*output++);
    if (status == Status::kTimedOut) completion.message = timeout_message(options_.run_limit);
    completion.batch_size = size;
    completion.batch_tokens = std::exchange(tokens, 0);
    completion.queue_time = start - request.arrival - request.preparation_time;
    completion.inference_time = inference_time;
  }
  // Of several that fail together, each runs again, and has a message of its own.
  if (status == Status::kFailed && size == 1)
    part.front().ending.front().message = std::move(message);
  return Ran{.status = status, .is_typical = is_typical && status != Status::kTimedOut};
}

/// On the watchdog's thread. The worker, if it comes back, leaves the requests as they are.
void Engine::give_up(Requests& batch, size_t place) noexcept {
  ++batches_;
  queue_->runs().give_up(place);
  for (Request& request : batch) {
    if (request.ending.empty()) continue;
    end(request, Status::kTimedOut).message = timeout_message(options_.run_limit);
    ended_by_watchdog_.splice(ended_by_watchdog_.end(), request.ending);
  }
}

void Engine::end_as(Status status, Requests& requests) noexcept {
  Completions ended;
  end_all(requests, status, ended);
  complete(std::move(ended));
}

void Engine::complete(Completions completions) noexcept {
  if (completions.empty()) return;
  for (const auto& completion : completions) ++ended_.at(static_cast<size_t>(completion.status));
  on_completions_(std::move(completions));
}

}  // namespace scheduler
