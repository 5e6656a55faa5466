// The tokenization threads of the scheduler.
#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "completion.h"
#include "request_queue.h"
#include "scheduler/cached_runs.h"
#include "scheduler/model_queue.h"
#include "scheduler/scheduler.h"
#include "scheduler/thread_setup.h"
#include "tokenizer.h"

namespace scheduler {
namespace {

/// Expected tokenization wait above which another thread starts. A list of some hundred sentences
/// takes less.
constexpr std::chrono::milliseconds kMaxTokenizationWait{5};

/// Idle time after which an additional thread ends.
constexpr std::chrono::seconds kMaxIdle{10};

}  // namespace

void Scheduler::start_tokenizers(ModelQueue& queue) {
  if (!queue.description_.needs_preparation) return;
  for (const TokenizationClass input_class : kTokenizationClasses)
    start_tokenizer(queue, input_class);
}

void Scheduler::start_tokenizer(ModelQueue& queue, TokenizationClass input_class) {
  queue.join_ended_tokenizers();
  Tokenizer& tokenizer = queue.tokenizers_.emplace_back(input_class);
  try {
    tokenizer.thread = std::thread([this, &queue, &tokenizer] {
      const bool is_short = tokenizer.input_class == TokenizationClass::kShort;
      set_up_thread(is_short ? "tokenization" : "long texts",
                    is_short ? Priority::kEqual : Priority::kLower);
      tokenize(queue, tokenizer);
    });
  } catch (...) {
    queue.tokenizers_.pop_back();
    throw;
  }
  queue.requests_->set_tokenizers(input_class, queue.count_tokenizers(input_class));
}

/// Starts another thread if inputs of a class wait too long, up to the number of workers.
void Scheduler::add_tokenizer(ModelQueue& queue, TokenizationClass input_class) noexcept {
  if (queue.requests_->tokenization_wait(input_class) <= kMaxTokenizationWait) return;
  if (queue.count_tokenizers(input_class) >= queue.options_.workers) return;
  try {
    start_tokenizer(queue, input_class);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the other threads remain
  }
}

/// Main function of a tokenization thread.
void Scheduler::tokenize(ModelQueue& queue, Tokenizer& tokenizer) {
  const TokenizationClass input_class = tokenizer.input_class;
  std::condition_variable& changed = queue.arrived_changed(input_class);
  const auto has_work = [&] {
    return queue.stopping_ ||
           queue.requests_->next_arrival(input_class) != Clock::time_point::max();
  };
  const auto is_additional = [&] { return queue.count_tokenizers(input_class) > 1; };
  Lock lock(mutex_);
  while (!tokenizer.hung) {
    if (!is_additional()) {
      changed.wait(lock, has_work);
    } else if (!changed.wait_for(lock, kMaxIdle, has_work) && is_additional()) {
      break;
    }
    if (queue.stopping_) break;
    if (has_work()) tokenize_next(queue, tokenizer, lock);
  }
  tokenizer.ended = true;
  queue.requests_->set_tokenizers(input_class, queue.count_tokenizers(input_class));
}

/// Tokenizes the next input. The request stays in the queue meanwhile, and leaves it early if it is
/// cancelled or exceeds the time limit.
void Scheduler::tokenize_next(ModelQueue& queue, Tokenizer& tokenizer, Lock& lock) {
  DequeuedArrival taken = queue.requests_->dequeue_arrival(tokenizer.input_class);
  InputPtr input = taken.request != nullptr ? std::move(taken.request->input) : nullptr;
  tokenizer.request = taken.request;
  tokenizer.busy = input != nullptr;
  tokenizer.start = Clock::now();
  ++queue.busy_threads_;
  lock.unlock();
  queue.complete_as(Status::kDeadlineExceeded, taken.expired);
  ModelQueue::Preparation preparation;
  if (input) preparation = queue.prepare(std::move(input));
  lock.lock();
  tokenizer.busy = false;
  if (Request* const request = std::exchange(tokenizer.request, nullptr)) {
    Completions completions = queue.apply(*request, std::move(preparation));
    if (completions.empty()) {
      wake_next();
    } else {
      lock.unlock();
      queue.deliver(std::move(completions));
      lock.lock();
    }
  }
  queue.release_thread();
}

/// Ends a preparation over its time limit: completes its request, and starts another thread.
/// Returns the time of the next check.
Clock::time_point Scheduler::check_tokenizers(ModelQueue& queue) noexcept {
  auto next = Clock::time_point::max();
  for (Tokenizer& tokenizer : queue.tokenizers_) {
    if (!tokenizer.busy || tokenizer.hung) continue;
    const auto end = tokenizer.start + queue.options_.run_limit;
    if (end > Clock::now()) {
      next = std::min(next, end);
      continue;
    }
    tokenizer.hung = true;
    if (Request* const request = std::exchange(tokenizer.request, nullptr)) {
      Requests dropped = queue.requests_->drop_arrived(*request);
      queue.mark_timed_out(dropped);
    }
    queue_changed_.notify_all();
    try {
      start_tokenizer(queue, tokenizer.input_class);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the other threads remain
    }
    break;  // the list has changed
  }
  return next;
}

/// Prepares an input. Called without the lock.
ModelQueue::Preparation ModelQueue::prepare(InputPtr input) const noexcept {
  Preparation result;
  result.start = options_.now();
  try {
    result.prepared = backend_->prepare(std::move(input));
    result.time = options_.now() - result.start;
    if (!result.prepared->needs_run()) return result;
    const auto cached = cached_runs_ ? cached_runs_->find(*result.prepared) : nullptr;
    if (cached) result.output = *cached;
    result.needs_run = !cached;
  } catch (const InputTooLong& error) {
    result.status = Status::kTooLong;
    result.message = current_message();
    result.element = error.element;
  } catch (const BackendError& error) {
    result.status = Status::kFailed;
    result.message = current_message();
    result.element = error.element;
  } catch (...) {
    result.status = Status::kFailed;
    result.message = current_message();
  }
  return result;
}

/// Stores the preparation of a request. Returns its completion if the model is not run for it:
/// preparation has failed or is the whole response, or the output is cached. Allocates nothing.
Completions ModelQueue::apply(Request& request, Preparation preparation) noexcept {
  request.prepared = std::move(preparation.prepared);
  request.preparation_time = preparation.time;
  if (preparation.status == Status::kOk && preparation.needs_run) {
    requests_->push_ready(request);
    return {};
  }
  Completion& completion = set_completion(request, preparation.status);
  completion.message = std::move(preparation.message);
  completion.element = preparation.element;
  completion.output = std::move(preparation.output);
  if (preparation.status == Status::kOk)
    completion.queue_time = preparation.start - request.arrival;
  Requests dropped = requests_->drop_arrived(request);
  return std::move(dropped.front().completion);
}

/// Discards the results of preparations whose requests have left the queue.
void ModelQueue::discard_preparations(const Requests& removed) noexcept {
  for (Scheduler::Tokenizer& tokenizer : tokenizers_) {
    const bool is_removed = std::ranges::any_of(
        removed, [&](const Request& request) { return &request == tokenizer.request; });
    if (is_removed) tokenizer.request = nullptr;
  }
}

/// Number of threads that tokenize inputs of a class.
size_t ModelQueue::count_tokenizers(TokenizationClass input_class) const {
  return static_cast<size_t>(
      std::ranges::count_if(tokenizers_, [&](const Scheduler::Tokenizer& tokenizer) {
        return tokenizer.input_class == input_class && tokenizer.is_available();
      }));
}

/// Joins threads that have ended, which takes microseconds: they hold no lock after `ended` is set.
void ModelQueue::join_ended_tokenizers() {
  tokenizers_.remove_if([](Scheduler::Tokenizer& tokenizer) {
    if (tokenizer.ended) tokenizer.thread.join();
    return tokenizer.ended;
  });
}

}  // namespace scheduler
