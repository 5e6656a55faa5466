#include "engine/engine.h"

#include <exception>
#include <functional>
#include <future>
#include <utility>

#include "ending.h"
#include "live_threads.h"
#include "request_queue.h"
#include "watchdog.h"
#include "worker_thread.h"

namespace engine {
namespace {

size_t bytes_of(const Input& input) {
  if (const auto* text = std::get_if<Text>(&input)) return text->text.size() + text->pair.size();
  return std::get<std::vector<float>>(input).size() * sizeof(float);
}

Options for_model(Options options, const Description& description) {
  if (!description.batching) options.max_batch_requests = 1;
  return options;
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
          options_.run_limit, options_.workers,
          Watchdog::Handlers{.on_given_up = std::bind_front(&Engine::give_up, this),
                             .at_times = [this] { drop_expired(); }})) {
  // The requests of a signal model keep the event loop busy, and it must win. Those of a text model
  // hardly do, and with a lower priority another process would take a core from it nearly whole.
  const Priority priority = description_.needs_preparation ? Priority::kEqual : Priority::kLower;
  std::vector<std::future<void>> prepared;
  try {
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
  Requests removed = queue_->remove(ticket);
  Completions ended;
  end_all(removed, Status::kCancelled, ended);
  complete(std::move(ended));
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
          .too_long = too_long_,
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
  Requests waiting = queue_->close_and_clear();
  Completions ended;
  end_all(waiting, Status::kDraining, ended);
  complete(std::move(ended));
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

}  // namespace engine
