#include "engine/engine.h"

#include <exception>
#include <future>
#include <utility>

#include "request_queue.h"
#include "worker_thread.h"

namespace engine {
namespace {

/// Writes down how a request ended, in memory that it was accepted with.
Completion& end(Request& request, Status status) noexcept {
  Completion& completion = request.ending.front();
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

/// Ends all of them in the same way, and adds their completions to those that have ended.
void end_all(const Requests& requests, Status status, Completions& ended) noexcept {
  for (const auto& request : requests) {
    end(*request, status);
    ended.splice(ended.end(), request->ending);
  }
}

/// The message of the exception being handled. The wall that keeps every error inside its request.
std::string current_message() noexcept {
  constexpr const char* kOutOfMemory = "out of memory";  // short enough to need none
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception& error) {
    try {
      return error.what();
    } catch (const std::bad_alloc&) {
      return kOutOfMemory;
    }
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
      queue_(std::make_unique<RequestQueue>(options_)) {
  // The requests of a signal model keep the event loop busy, and it must win. Those of a text model
  // hardly do, and with a lower priority another process would take a core from it nearly whole.
  const Priority priority = description_.needs_preparation ? Priority::kEqual : Priority::kLower;
  std::vector<std::future<void>> prepared;
  try {
    for (size_t i = 0; i < options_.workers; ++i) {
      auto promise = std::make_shared<std::promise<void>>();
      prepared.push_back(promise->get_future());
      threads_.emplace_back([this, promise, priority] {
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
      threads_.emplace_back([this] {
        set_up_engine_thread("tokenization", Priority::kEqual);
        prepare_loop(Lane::kShort);
      });
      threads_.emplace_back([this] {
        set_up_engine_thread("long texts", Priority::kLower);
        prepare_loop(Lane::kLong);
      });
    }
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
  if (const auto request = queue_->remove(ticket)) {
    end(*request, Status::kCancelled);
    complete(std::move(request->ending));
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
          .batches = batches_};
}

void Engine::close() {
  queue_->close();
  join();
}

void Engine::abort() {
  Completions dropped;
  end_all(queue_->close_and_clear(), Status::kDraining, dropped);
  complete(std::move(dropped));
  join();
}

void Engine::join() {
  const std::lock_guard lock(join_mutex_);
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

void Engine::prepare_loop(Lane lane) {
  for (;;) {
    Taken taken = queue_->take_arrived(lane);
    Completions ended;
    end_all(taken.expired, Status::kDeadlineExceeded, ended);
    if (!taken.batch.empty()) {
      Request& request = *taken.batch.front();
      if (prepare(request)) {
        queue_->push_ready(std::move(taken.batch));
      } else {
        queue_->drop_arrived(request);
        ended.splice(ended.end(), request.ending);
      }
    }
    complete(std::move(ended));
    if (taken.closed) return;
  }
}

/// Fills in the sequence. False: it cannot be had, and how the request ended is written down.
bool Engine::prepare(Request& request) noexcept {
  const auto start = Clock::now();
  try {
    request.sequence = backend_->prepare(std::move(request.input));
    request.preparation_time = Clock::now() - start;
    return true;
  } catch (...) {
    end(request, Status::kFailed).message = current_message();
    return false;
  }
}

void Engine::work_loop() {
  for (;;) {
    Taken taken = queue_->take_batch();
    Completions expired;
    end_all(taken.expired, Status::kDeadlineExceeded, expired);
    complete(std::move(expired));
    if (!taken.batch.empty()) {
      const bool alone = running_++ == 0 && queue_->size() == 0;
      run_batch(std::move(taken.batch), alone ? Cores::kAll : Cores::kOwn);
      --running_;
    }
    if (taken.closed) return;
  }
}

void Engine::run_batch(Requests requests, Cores cores) {
  if (!run_together(requests, cores) && requests.size() > 1) {
    // One request must not take its neighbours down: each again, alone.
    Requests left = std::move(requests);
    requests.clear();
    while (!left.empty()) {
      Requests alone;
      alone.splice(alone.end(), left, left.begin());
      run_together(alone, Cores::kOwn);
      requests.splice(requests.end(), alone);
    }
  }
  Completions ended;
  for (const auto& request : requests) ended.splice(ended.end(), request->ending);
  complete(std::move(ended));
}

/// Writes down how each ended: all of them kOk, or all kFailed, and then it is false.
bool Engine::run_together(Requests& requests, Cores cores) noexcept {
  const auto start = Clock::now();
  std::vector<Logits> results;
  std::string message;
  Status status = Status::kOk;
  try {
    std::vector<const Sequence*> batch;
    batch.reserve(requests.size());
    for (const auto& request : requests) batch.push_back(&request->sequence);
    results = backend_->run(batch, cores);
    if (results.size() != batch.size()) throw BackendError("the model left inputs unanswered");
  } catch (...) {
    status = Status::kFailed;
    message = current_message();
  }
  ++batches_;
  const auto inference_time = Clock::now() - start;
  auto result = results.begin();
  for (const auto& request : requests) {
    Completion& completion = end(*request, status);
    if (status == Status::kOk) completion.logits = std::move(*result++);
    completion.batch_size = requests.size();
    completion.queue_time = start - request->arrival - request->preparation_time;
    completion.inference_time = inference_time;
  }
  // Of several that fail together, each runs again, and has a message of its own.
  if (requests.size() == 1) requests.front()->ending.front().message = std::move(message);
  return status == Status::kOk;
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
      case Status::kQueueFull:
      case Status::kDraining:
        ++refused_;
        break;
    }
  }
  on_completions_(std::move(completions));
}

}  // namespace engine
