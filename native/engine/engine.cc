#include "engine/engine.h"

#include <exception>
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
      queue_(std::make_unique<RequestQueue>(options_)),
      live_(std::make_unique<LiveThreads>()),
      watchdog_(std::make_unique<Watchdog>(
          options_.run_limit, [this](const Requests& requests) { give_up(requests); })) {
  // The requests of a signal model keep the event loop busy, and it must win. Those of a text model
  // hardly do, and with a lower priority another process would take a core from it nearly whole.
  const Priority priority = description_.needs_preparation ? Priority::kEqual : Priority::kLower;
  std::vector<std::future<void>> prepared;
  for (size_t i = 0; i < options_.workers; ++i) {
    auto promise = std::make_shared<std::promise<void>>();
    prepared.push_back(promise->get_future());
    start_thread([this, promise, priority] {
      set_up_engine_thread("inference", priority);
      try {
        backend_->prepare_thread();
      } catch (...) {
        promise->set_exception(std::current_exception());
        return;
      }
      promise->set_value();
      work_loop();
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

Status Engine::submit(uint64_t ticket, Input input, Clock::time_point deadline) {
  auto request = std::make_unique<Request>();
  request->ticket = ticket;
  request->bytes = bytes_of(input);
  request->input = std::move(input);
  request->arrival = Clock::now();
  request->deadline = deadline;
  const bool ready = !description_.needs_preparation;
  if (ready) request->sequence = backend_->prepare(std::move(request->input));
  const Status status = queue_->push(request, ready);
  if (status != Status::kOk) ++refused_;
  return status;
}

void Engine::cancel(uint64_t ticket) {
  if (auto request = queue_->remove(ticket)) {
    complete({completion_of(*request, Status::kCancelled)});
  }
}

Statistics Engine::statistics() const {
  return {.queue_requests = queue_->size(),
          .queue_requests_limit = options_.max_queue_requests,
          .queue_bytes = queue_->bytes(),
          .queue_bytes_limit = options_.max_queue_bytes,
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
    dropped.push_back(completion_of(*request, Status::kDraining));
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
  const size_t left = live_->wait(
      [this](size_t live) { return live == watchdog_->given_up(); }, Clock::now() + patience);
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
      ended.push_back(completion_of(*request, Status::kDeadlineExceeded));
    }
    for (auto& request : taken.batch) {
      Completion failure = prepare(*request);
      if (failure.status == Status::kOk) {
        queue_->push_ready(std::move(request));
      } else {
        queue_->drop_arrived(*request);
        ended.push_back(std::move(failure));
      }
    }
    complete(std::move(ended));
    if (taken.closed) return;
  }
}

/// Fills in the sequence; the completion says kOk or how it failed.
Completion Engine::prepare(Request& request) {
  const auto start = Clock::now();
  try {
    request.sequence = backend_->prepare(std::move(request.input));
    request.preparation_time = Clock::now() - start;
    return completion_of(request, Status::kOk);
  } catch (...) {
    Completion failure = completion_of(request, Status::kFailed);
    failure.message = current_message();
    return failure;
  }
}

void Engine::work_loop() {
  for (;;) {
    Taken taken = queue_->take_batch();
    std::vector<Completion> expired;
    for (const auto& request : taken.expired) {
      expired.push_back(completion_of(*request, Status::kDeadlineExceeded));
    }
    complete(std::move(expired));
    if (!taken.batch.empty()) {
      const bool alone = running_++ == 0 && queue_->size() == 0;
      run_batch(std::move(taken.batch), alone ? Cores::kAll : Cores::kOwn);
      --running_;
    }
    if (taken.closed) return;
  }
}

void Engine::run_batch(std::vector<std::unique_ptr<Request>> requests, Cores cores) {
  std::vector<Completion> completions = run_together(requests, cores);
  if (completions.size() > 1 && completions.front().status == Status::kFailed) {
    // One request must not take its neighbours down: each again, alone.
    completions.clear();
    for (auto& request : requests) {
      std::vector<std::unique_ptr<Request>> alone;
      alone.push_back(std::move(request));
      for (auto& own : run_together(alone, Cores::kOwn)) completions.push_back(std::move(own));
    }
  }
  complete(std::move(completions));
}

/// All of the completions have the same status. Empty: the run was given up, which has answered.
std::vector<Completion> Engine::run_together(const std::vector<std::unique_ptr<Request>>& requests,
                                             Cores cores) {
  const auto start = Clock::now();
  std::vector<const Sequence*> batch;
  batch.reserve(requests.size());
  for (const auto& request : requests) batch.push_back(&request->sequence);
  std::vector<Logits> results;
  std::string message;
  Status status = Status::kOk;
  Watchdog::Run watched(*watchdog_, requests);
  try {
    results = backend_->run(batch, cores);
  } catch (const RunTimeout& timeout) {
    status = Status::kTimedOut;
    message = timeout.what();
  } catch (...) {
    status = Status::kFailed;
    message = current_message();
  }
  if (!watched.end()) return {};
  ++batches_;
  const auto inference_time = Clock::now() - start;
  std::vector<Completion> completions;
  completions.reserve(requests.size());
  for (size_t i = 0; i < requests.size(); ++i) {
    Completion completion = completion_of(*requests[i], status);
    completion.message = message;
    if (status == Status::kOk) completion.logits = std::move(results[i]);
    completion.batch_size = requests.size();
    completion.queue_time = start - requests[i]->arrival - requests[i]->preparation_time;
    completion.inference_time = inference_time;
    completions.push_back(std::move(completion));
  }
  return completions;
}

/// On the watchdog's thread.
void Engine::give_up(const Requests& requests) {
  ++batches_;
  std::vector<Completion> completions;
  for (const auto& request : requests) {
    completions.push_back(completion_of(*request, Status::kTimedOut));
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
      case Status::kDraining:
        ++refused_;
        break;
    }
  }
  on_completions_(std::move(completions));
}

}  // namespace engine
