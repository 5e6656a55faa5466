// What the machine's threads do for an engine.
#include <exception>
#include <iterator>
#include <utility>

#include "ending.h"
#include "engine/engine.h"
#include "request_queue.h"
#include "worker.h"

namespace engine {

/// Some of a batch, which run together.
struct Engine::Part {
  Requests::iterator first;
  Requests::iterator last;

  auto begin() const { return first; }
  auto end() const { return last; }
};

/// Fills in the sequence. False: it cannot be had, and how the request ended is written down.
bool Engine::prepare(Request& request) noexcept {
  const auto start = options_.now();
  try {
    request.sequence = backend_->prepare(std::move(request.input));
    request.preparation_time = options_.now() - start;
    return true;
  } catch (const InputTooLong&) {
    end(request, Status::kTooLong).message = current_message();
  } catch (...) {
    end(request, Status::kFailed).message = current_message();
  }
  return false;
}

/// So that the queue can tell its wait from the first request on.
void Engine::prepare_worker(gemm::Team* team) {
  const std::optional<Sequence> sample = backend_->prepare_thread(team);
  if (!sample) return;
  const Sequence* const batch[] = {&*sample};
  const auto start = options_.now();
  try {
    backend_->run(batch, team);
  } catch (const BackendError&) {
    return;  // a request that fails like this is told so
  }
  const auto time = options_.now() - start;
  const Machine::Lock lock(machine_->mutex_);
  queue_->learn_pace(sample->cost(), time);
}

/// Returns whether the time it took says something of the pace.
bool Engine::run_batch(Requests& batch, gemm::Team* team, Machine::Worker& worker) {
  const Part whole{.first = batch.begin(), .last = batch.end()};
  const Outcome outcome = run_together(batch, whole, team, worker);
  if (outcome == Outcome::kGivenUp) return false;
  if (outcome != Outcome::kFailed || batch.size() == 1) {
    Completions ended;
    for (auto& request : batch) ended.splice(ended.end(), request.ending);
    complete(std::move(ended));
    return outcome != Outcome::kTimedOut;
  }
  // One request must not take its neighbours down: each again, alone. Each is answered before the
  // next one runs, which may not come back.
  bool is_typical = true;
  for (auto request = batch.begin(); request != batch.end(); ++request) {
    const Part alone{.first = request, .last = std::next(request)};
    const Outcome own = run_together(batch, alone, team, worker);
    if (own == Outcome::kGivenUp) return false;
    is_typical = is_typical && own != Outcome::kTimedOut;
    complete(std::move(request->ending));
  }
  return is_typical;
}

/// Writes down how each of the part ended: all of them kOk, all kTimedOut, or all kFailed.
/// kGivenUp: it took too long, and all of the batch that had no answer have been given it.
Engine::Outcome Engine::run_together(Requests& batch, const Part& part, gemm::Team* team,
                                     Machine::Worker& worker) noexcept {
  const auto start = options_.now();
  const auto size = static_cast<size_t>(std::ranges::distance(part));
  std::vector<Output> outputs;
  std::string message;
  Status status = Status::kOk;
  {
    const Machine::Lock lock(machine_->mutex_);
    worker.begin(&batch);
  }
  try {
    std::vector<const Sequence*> sequences;
    sequences.reserve(size);
    for (const auto& request : part) sequences.push_back(&request.sequence);
    outputs = backend_->run(sequences, team);
    if (outputs.size() != size) throw BackendError("the model left inputs unanswered");
  } catch (const RunTimeout&) {
    status = Status::kTimedOut;
  } catch (...) {
    status = Status::kFailed;
    message = current_message();
  }
  {
    const Machine::Lock lock(machine_->mutex_);
    if (!worker.end()) return Outcome::kGivenUp;
  }
  ++batches_;
  const auto inference_time = options_.now() - start;
  auto output = outputs.begin();
  size_t tokens = 0;
  for (const auto& request : part) tokens += request.sequence.cost();
  for (auto& request : part) {
    Completion& completion = end(request, status);
    if (status == Status::kOk) completion.output = std::move(*output++);
    if (status == Status::kTimedOut) completion.message = timeout_message(options_.run_limit);
    completion.batch_size = size;
    completion.batch_tokens = std::exchange(tokens, 0);
    completion.queue_time = start - request.arrival - request.preparation_time;
    completion.inference_time = inference_time;
  }
  if (status == Status::kOk) return Outcome::kAnswered;
  if (status == Status::kTimedOut) return Outcome::kTimedOut;
  // Of several that fail together, each runs again, and has a message of its own.
  if (size == 1) part.first->ending.front().message = std::move(message);
  return Outcome::kFailed;
}

/// On the watchdog's thread. The worker, if it comes back, leaves the requests as they are.
void Engine::give_up(Requests& batch, size_t place) noexcept {
  ++batches_;
  queue_->give_up(place);
  end_timed_out(batch, options_.run_limit, ended_by_watchdog_);
}

void Engine::end_expired(Requests& expired) noexcept {
  Completions ended;
  end_all(expired, Status::kDeadlineExceeded, ended);
  complete(std::move(ended));
}

void Engine::complete(Completions completions) noexcept {
  if (completions.empty()) return;
  for (const auto& completion : completions) ++ended_.at(static_cast<size_t>(completion.status));
  on_completions_(std::move(completions));
}

}  // namespace engine
