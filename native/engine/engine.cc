#include "engine/engine.h"

#include <exception>
#include <functional>
#include <future>
#include <utility>

#include "live_threads.h"
#include "request_queue.h"
#include "watchdog.h"
#include "worker_thread.h"

namespace engine {
namespace {

Completion completion_of(const Request& request, Status status) {
  Completion completion;
  completion.ticket = request.ticket;
  completion.status = status;
  completion.tokens = request.sequence.cost();
  completion.truncated = request.sequence.truncated;
  completion.preparation_time = request.preparation_time;
  return completion;
}

size_t bytes_of(const Input& input) {
  if (const auto* text = std::get_if<std::string>(&input)) return text->size();
  return std::get<std::vector<float>>(input).size() * sizeof(float);
}

Options for_model(Options options, const Description& description) {
  if (!description.batching) options.max_batch_requests = 1;
  return options;
}

/// The message of the exception being handled. The wall that keeps every error inside its request.
std::string current_message() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace

Engine::Engine(std::shared_ptr<Backend> backend, Options options, CompletionHandler on_completions)
    : backend_(std::move(backend)),
      description_(backend_->description()),
      options_(for_model(options, description_)),
      on_completions_(std::move(on_completions)),
      queue_(std::make_unique<RequestQueue>(options_, description_.max_length)),
      live_(std::make_unique<LiveThreads>()),
      watchdog_(std::make_unique<Watchdog>(
          options_.run_limit,
          Watchdog::Handlers{.on_given_up = std::bind_front(&Engine::give_up, this),
                             .meanwhile = [this] { drop_expired(); }})) {
  // The requests of a signal model keep the event loop busy, and it must win. Those of a text model
  // hardly do, and with a lower priority another process would take a core from it nearly whole.
  const Priority priority = description_.needs_preparation ? Priority::kEqual : Priority::kLower;
  std::vector<std::future<void>> prepared;
  for (size_t i = 0; i < options_.workers; ++i) {
    auto promise = std::make_shared<std::promise<void>>();
    prepared.push_back(promise->get_future());
    start_thread([this, i, promise, priority] {
      set_up_engine_thread("inference", priority);
      try {
        prepare_worker();
      } catch (...) {
        promise->set_exception(std::current_exception());
        return;
      }
      promise->set_value();
      work_loop(i);
    });
  }
  if (description_.needs_preparation) {
    start_thread([this] {
      set_up_engine_thread("tokenization", Priority::kEqual);
      prepare_loop(Lane::kShort);
    });
    start_thread([this] {
      set_up_engine_thread("long texts", Priority::kLower);
      prepare_loop(Lane::kLong);
    });
  }
  try {
    for (auto& future : prepared) future.get();
  } catch (...) {
    abort();
    throw;
  }
}

Engine::~Engine() { abort(); }

Admission Engine::submit(uint64_t first_ticket, std::vector<Input> inputs,
                         Clock::time_point deadline) {
  const bool ready = !description_.needs_preparation;
  const auto arrival = options_.now();
  Requests requests;
  for (auto& input : inputs) {
    Request& request = requests.emplace_back();
    request.ticket = first_ticket++;
    request.bytes = bytes_of(input);
    request.input = std::move(input);
    request.arrival = arrival;
    request.deadline = deadline;
    if (ready) request.sequence = backend_->prepare(std::move(request.input));
  }
  const Admission admission = queue_->push(requests, ready);
  refused_ += requests.size();  // those that were accepted are gone from the list
  return admission;
}

Admission Engine::admission(Clock::time_point deadline) const {
  return queue_->admission(deadline);
}

void Engine::cancel(uint64_t ticket) {
  for (const Request& request : queue_->remove(ticket)) {
    complete({completion_of(request, Status::kCancelled)});
  }
}

Statistics Engine::statistics() const {
  return {.queue_requests = queue_->size(),
          .queue_requests_limit = options_.max_queue_requests,
          .queue_bytes = queue_->bytes(),
          .queue_bytes_limit = options_.max_queue_bytes,
          .queue_wait = queue_->wait(),
          .queue_wait_limit = options_.max_queue_wait,
          .completed = completed_,
          .failed = failed_,
          .refused = refused_,
          .cancelled = cancelled_,
          .expired = expired_,
          .timed_out = timed_out_,
          .batches = batches_,
          .stuck_for = watchdog_->stuck_for()};
}

void Engine::close() {
  queue_->close();
  const size_t left = live_->wait([this](size_t live) {
    return live == 0 || abandoned_ || (live == watchdog_->given_up() && queue_->size() == 0);
  });
  if (left == 0) join();
}

void Engine::drop() {
  std::vector<Completion> dropped;
  for (const auto& request : queue_->close_and_clear()) {
    dropped.push_back(completion_of(request, Status::kDraining));
  }
  complete(std::move(dropped));
}

void Engine::abort() {
  drop();
  join();
}

bool Engine::abort_within(Clock::duration patience) {
  drop();
  abandoned_ = true;
  live_->wake();
  const size_t left = live_->wait([this](size_t live) { return live == watchdog_->given_up(); },
                                  Clock::now() + patience);
  if (left > 0) return false;
  join();
  return true;
}

void Engine::start_thread(std::function<void()> body) {
  live_->begin();
  try {
    threads_.emplace_back([this, body = std::move(body)] {
      body();
      live_->end();
    });
  } catch (...) {
    live_->end();
    throw;
  }
}

void Engine::join() {
  const std::lock_guard lock(join_mutex_);
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Engine::prepare_loop(Lane lane) {
  for (;;) {
    Taken taken = queue_->take_arrived(lane);
    std::vector<Completion> ended;
    for (const auto& request : taken.expired) {
      ended.push_back(completion_of(request, Status::kDeadlineExceeded));
    }
    if (!taken.batch.empty()) {
      Completion failure = prepare(taken.batch.front());
      if (failure.status == Status::kOk) {
        queue_->push_ready(std::move(taken.batch));
      } else {
        queue_->drop_arrived(taken.batch.front());
        ended.push_back(std::move(failure));
      }
    }
    complete(std::move(ended));
    if (taken.closed) return;
  }
}

/// Fills in the sequence; the completion says kOk or how it failed.
Completion Engine::prepare(Request& request) {
  const auto start = options_.now();
  try {
    request.sequence = backend_->prepare(std::move(request.input));
    request.preparation_time = options_.now() - start;
    return completion_of(request, Status::kOk);
  } catch (...) {
    Completion failure = completion_of(request, Status::kFailed);
    failure.message = current_message();
    return failure;
  }
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
    std::vector<Completion> expired;
    for (const auto& request : taken.expired) {
      expired.push_back(completion_of(request, Status::kDeadlineExceeded));
    }
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

void Engine::run_batch(Requests requests, Cores cores, size_t worker) {
  std::vector<Completion> completions = run_together(requests, cores, worker);
  if (completions.size() > 1 && completions.front().status == Status::kFailed) {
    // One request must not take its neighbours down: each again, alone.
    completions.clear();
    while (!requests.empty()) {
      Requests alone;
      alone.splice(alone.end(), requests, requests.begin());
      for (auto& own : run_together(alone, Cores::kOwn, worker)) {
        completions.push_back(std::move(own));
      }
    }
  }
  complete(std::move(completions));
}

/// All of the completions have the same status. Empty: the run was given up, which has answered.
std::vector<Completion> Engine::run_together(const Requests& requests, Cores cores, size_t worker) {
  const auto start = options_.now();
  std::vector<const Sequence*> batch;
  batch.reserve(requests.size());
  for (const auto& request : requests) batch.push_back(&request.sequence);
  std::vector<Logits> results;
  std::string message;
  Status status = Status::kOk;
  Watchdog::Run watched(*watchdog_, requests, worker);
  try {
    results = backend_->run(batch, cores);
  } catch (const RunTimeout& timeout) {
    queue_->give_up(worker);
    status = Status::kTimedOut;
    message = timeout.what();
  } catch (...) {
    status = Status::kFailed;
    message = current_message();
  }
  if (!watched.end()) return {};
  ++batches_;
  const auto inference_time = options_.now() - start;
  std::vector<Completion> completions;
  completions.reserve(requests.size());
  for (const auto& request : requests) {
    Completion completion = completion_of(request, status);
    completion.message = message;
    if (status == Status::kOk) completion.logits = std::move(results[completions.size()]);
    completion.batch_size = requests.size();
    completion.queue_time = start - request.arrival - request.preparation_time;
    completion.inference_time = inference_time;
    completions.push_back(std::move(completion));
  }
  return completions;
}

/// On the watchdog's thread, while no worker may come to do it.
void Engine::drop_expired() {
  std::vector<Completion> expired;
  for (const auto& request : queue_->take_expired()) {
    expired.push_back(completion_of(request, Status::kDeadlineExceeded));
  }
  complete(std::move(expired));
}

/// On the watchdog's thread.
void Engine::give_up(const Requests& requests, size_t worker) {
  ++batches_;
  queue_->give_up(worker);
  std::vector<Completion> completions;
  for (const auto& request : requests) {
    completions.push_back(completion_of(request, Status::kTimedOut));
    completions.back().message = RunTimeout(options_.run_limit).what();
  }
  complete(std::move(completions));
  live_->wake();
}

void Engine::complete(std::vector<Completion> completions) {
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
