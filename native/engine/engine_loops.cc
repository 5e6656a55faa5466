// What the engine's threads do.
#include <exception>
#include <iterator>
#include <utility>

#include "ending.h"
#include "engine/engine.h"
#include "live_threads.h"
#include "request_queue.h"
#include "watchdog.h"

namespace engine {

/// Some of a batch, which run together.
struct Engine::Part {
  Requests::iterator first;
  Requests::iterator last;

  auto begin() const { return first; }
  auto end() const { return last; }
};

void Engine::prepare_loop(Lane lane) {
  for (;;) {
    Taken taken = queue_->take_arrived(lane);
    Completions ended;
    end_all(taken.expired, Status::kDeadlineExceeded, ended);
    if (!taken.batch.empty()) {
      Request& request = taken.batch.front();
      if (!prepare(request)) {
        queue_->drop_arrived(request);
        ended.splice(ended.end(), request.ending);
      } else if (!queue_->push_ready(taken.batch)) {
        end_all(taken.batch, Status::kDraining, ended);
      }
    }
    complete(std::move(ended));
    if (taken.closed) return;
  }
}

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
void Engine::prepare_worker() {
  const std::optional<Sequence> sample = backend_->prepare_thread();
  if (!sample) return;
  const Sequence* const batch[] = {&*sample};
  const auto start = options_.now();
  try {
    backend_->run(batch, Cores::kOwn);
  } catch (const BackendError&) {
    return;  // a request that fails like this is told so
  }
  queue_->learn_pace(sample->cost(), options_.now() - start);
}

void Engine::work_loop(size_t worker) {
  for (;;) {
    Taken taken = queue_->take_batch(worker);
    Completions expired;
    end_all(taken.expired, Status::kDeadlineExceeded, expired);
    complete(std::move(expired));
    if (!taken.batch.empty()) {
      const bool alone = running_++ == 0 && queue_->size() == 0;
      run_batch(std::move(taken.batch), alone ? Cores::kAll : Cores::kOwn, worker);
      queue_->finished(worker, alone ? options_.workers : 1);
      --running_;
    }
    if (taken.closed) return;
  }
}

void Engine::run_batch(Requests batch, Cores cores, size_t worker) {
  const Part whole{.first = batch.begin(), .last = batch.end()};
  const Outcome outcome = run_together(batch, whole, cores, worker);
  if (outcome == Outcome::kGivenUp) return;
  if (outcome == Outcome::kAnswered || batch.size() == 1) {
    Completions ended;
    for (auto& request : batch) ended.splice(ended.end(), request.ending);
    complete(std::move(ended));
    return;
  }
  // One request must not take its neighbours down: each again, alone. Each is answered before the
  // next one runs, which may not come back.
  for (auto request = batch.begin(); request != batch.end(); ++request) {
    const Part alone{.first = request, .last = std::next(request)};
    if (run_together(batch, alone, Cores::kOwn, worker) == Outcome::kGivenUp) return;
    complete(std::move(request->ending));
  }
}

/// Writes down how each of the part ended: all of them kOk, all kTimedOut, or all kFailed.
/// kGivenUp: it took too long, and all of the batch that had no answer have been given it.
Engine::Outcome Engine::run_together(Requests& batch, const Part& part, Cores cores,
                                     size_t worker) noexcept {
  const auto start = options_.now();
  const auto size = static_cast<size_t>(std::ranges::distance(part));
  std::vector<Logits> results;
  std::string message;
  Status status = Status::kOk;
  Watchdog::Run watched(*watchdog_, batch, worker);
  try {
    std::vector<const Sequence*> sequences;
    sequences.reserve(size);
    for (const auto& request : part) sequences.push_back(&request.sequence);
    results = backend_->run(sequences, cores);
    if (results.size() != size) throw BackendError("the model left inputs unanswered");
  } catch (const RunTimeout&) {
    queue_->give_up(worker);
    status = Status::kTimedOut;
  } catch (...) {
    status = Status::kFailed;
    message = current_message();
  }
  if (!watched.end()) return Outcome::kGivenUp;
  ++batches_;
  const auto inference_time = options_.now() - start;
  auto result = results.begin();
  size_t tokens = 0;
  for (const auto& request : part) tokens += request.sequence.cost();
  for (auto& request : part) {
    Completion& completion = end(request, status);
    if (status == Status::kOk) completion.logits = std::move(*result++);
    if (status == Status::kTimedOut) completion.message = timeout_message(options_.run_limit);
    completion.batch_size = size;
    completion.batch_tokens = std::exchange(tokens, 0);
    completion.queue_time = start - request.arrival - request.preparation_time;
    completion.inference_time = inference_time;
  }
  if (status != Status::kFailed) return Outcome::kAnswered;
  // Of several that fail together, each runs again, and has a message of its own.
  if (size == 1) part.first->ending.front().message = std::move(message);
  return Outcome::kFailed;
}

/// On the watchdog's thread: the workers do it, too, but a long batch keeps them from it.
void Engine::drop_expired() noexcept {
  Requests expired = queue_->take_expired();
  Completions ended;
  end_all(expired, Status::kDeadlineExceeded, ended);
  complete(std::move(ended));
}

/// On the watchdog's thread. The worker, if it comes back, leaves the requests as they are.
void Engine::give_up(Requests& batch, size_t worker) noexcept {
  ++batches_;
  queue_->give_up(worker);
  Completions ended;
  end_timed_out(batch, options_.run_limit, ended);
  complete(std::move(ended));
  live_->wake();
}

void Engine::complete(Completions completions) noexcept {
  if (completions.empty()) return;
  for (const auto& completion : completions) {
    switch (completion.status) {
      case Status::kOk:
        ++completed_;
        break;
      case Status::kFailed:
        ++failed_;
        break;
      case Status::kDeadlineExceeded:
        ++expired_;
        break;
      case Status::kCancelled:
        ++cancelled_;
        break;
      case Status::kTimedOut:
        ++timed_out_;
        break;
      case Status::kTooLong:
        ++too_long_;
        break;
      case Status::kQueueFull:
      case Status::kWaitTooLong:
      case Status::kDeadlineTooClose:
      case Status::kDraining:
        ++refused_;
        break;
    }
  }
  on_completions_(std::move(completions));
}

}  // namespace engine
