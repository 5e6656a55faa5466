#include "engine_host.h"

#include <optional>
#include <system_error>
#include <utility>

#include "backend/backends.h"
#include "completions.h"
#include "scheduler/abandoned_threads.h"

namespace node {
namespace {

/// Time that a running batch may delay the end of the environment.
constexpr std::chrono::seconds kStopTimeout{1};

/// Message of the current exception, which a load has thrown.
std::string load_error() noexcept {
  try {
    try {
      throw;
    } catch (const std::system_error& failure) {
      if (failure.code() != std::errc::resource_unavailable_try_again) return failure.what();
      return "no thread can be started: raise the limit of processes or tasks, or lower WORKERS";
    } catch (const std::bad_alloc&) {
      return "out of memory";
    } catch (const std::exception& failure) {
      return failure.what();
    }
  } catch (const std::bad_alloc&) {
    return "out of memory";  // stored in the string itself, without an allocation
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace

EngineHost::EngineHost(Napi::Env env)
    : env_(env),
      router_(std::make_shared<CompletionRouter>([this](scheduler::Completions completions) {
        post([&](PendingEvents& events) {
          events.completions.splice(events.completions.end(), completions);
        });
      })) {}

/// Adds an event and wakes the JS thread. Any thread.
template <class Change>
void EngineHost::post(const Change& change) noexcept {
  {
    const std::lock_guard lock(events_mutex_);
    change(events_);
  }
  wake_js();
}

std::shared_ptr<EngineHost> EngineHost::create(Napi::Env env, Napi::Function on_completions) {
  const std::shared_ptr<EngineHost> host(new EngineHost(env));
  host->channel_ = JsChannel::New(env, on_completions, "libtorch-serve engine", 0, 1, host.get());
  host->channel_.Unref(env);
  host->connected_ = true;
  // Hooks run in reverse order. The channel's own hook was added before this one, so our threads
  // have ended before the channel is destroyed.
  napi_add_env_cleanup_hook(env, on_environment_end, host.get());
  return host;
}

EngineHost::~EngineHost() { stop(); }

void EngineHost::on_environment_end(void* host) { static_cast<EngineHost*>(host)->stop(); }

void EngineHost::load(LoadArguments arguments, LoadHandler on_loaded) {
  on_loaded_ = std::move(on_loaded);
  ref_event_loop(1);
  const auto post_result = [this](std::string error) {
    post([&](PendingEvents& events) { events.load_result = std::move(error); });
  };
  try {
    loading_ = std::make_shared<Loading>(std::move(arguments),
                                         [router = router_](scheduler::Completions completions) {
                                           router->deliver(std::move(completions));
                                         });
    helper_ = std::thread([this, post_result] {
      try {
        model_ = loading_->run();
        post_result("");
      } catch (...) {
        post_result(load_error());
      }
    });
  } catch (...) {
    post_result(load_error());
  }
}

scheduler::Admission EngineHost::submit(uint64_t first_ticket,
                                        std::vector<scheduler::InputPtr> inputs,
                                        scheduler::Clock::time_point deadline) {
  const size_t count = inputs.size();
  if (!model_.queue) return {.status = scheduler::Status::kDraining};
  const auto admission = model_.queue->submit(first_ticket, std::move(inputs), deadline);
  if (admission.status == scheduler::Status::kOk) ref_event_loop(count);
  return admission;
}

void EngineHost::cancel(uint64_t ticket) {
  if (model_.queue) model_.queue->cancel(ticket);
}

void EngineHost::drop() {
  if (model_.queue) model_.queue->drop();
}

scheduler::Statistics EngineHost::statistics() const {
  return model_.queue ? model_.queue->statistics() : last_statistics_;
}

void EngineHost::close(CloseHandler on_closed) {
  on_closed_ = std::move(on_closed);
  ref_event_loop(1);
  if (helper_.joinable()) helper_.join();  // the loader, which has ended
  const auto close_queue = [this] {
    model_.queue->close();
    post([](PendingEvents& events) { events.closed = true; });
  };
  try {
    helper_ = std::thread(close_queue);
  } catch (...) {
    close_queue();  // no thread available: blocks the event loop until accepted requests end
  }
}

/// Frees the model after the queue is closed. The JavaScript object may live on, so it keeps
/// nothing of the model. Freeing takes milliseconds and therefore happens on another thread.
void EngineHost::unload() {
  if (helper_.joinable()) helper_.join();  // the thread that posted `closed`
  const auto post_freed = [this] { post([](PendingEvents& events) { events.freed = true; }); };
  if (!model_.queue->abort_within(std::chrono::seconds(0))) {
    return post_freed();  // a run hangs: the model is not freed, and stop() abandons it
  }
  last_statistics_ = model_.queue->statistics();
  const auto memory = std::make_shared<ModelMemory>(take_model());
  const auto free = [memory, post_freed] {
    *memory = {};
    backend::release_free_memory();
    post_freed();
  };
  try {
    helper_ = std::thread(free);
  } catch (...) {
    free();  // no thread available
  }
}

EngineHost::ModelMemory EngineHost::take_model() {
  return {.queue = std::move(model_.queue), .vocabulary = std::move(model_.vocabulary)};
}

/// Tells V8 how much memory the JavaScript object keeps, so that it collects an unused object
/// earlier.
void EngineHost::report_memory_to_v8(size_t bytes) {
  const auto change = static_cast<int64_t>(bytes) - static_cast<int64_t>(reported_bytes_);
  if (change != 0) Napi::MemoryManagement::AdjustExternalMemory(env_, change);
  reported_bytes_ = bytes;
}

void EngineHost::stop() {
  if (!connected_) return;
  connected_ = false;
  router_->disconnect();
  stop_threads();
  napi_remove_env_cleanup_hook(env_, on_environment_end, this);
  channel_.Abort();
}

void EngineHost::stop_threads() {
  if (loading_) loading_->cancel();
  // Ends a close() in progress.
  if (loaded_ && model_.queue) model_.queue->abort_within(kStopTimeout);
  if (helper_.joinable()) helper_.join();
  if (model_.queue &&
      !model_.queue->abort_within(loaded_ ? std::chrono::seconds(0) : kStopTimeout)) {
    last_statistics_ = model_.queue->statistics();
    scheduler::join_in_background([memory = take_model()]() mutable {
      memory.queue->abort();
      memory = {};
      backend::release_free_memory();
    });
  }
}

/// Any thread. Node allocates an entry of its queue. Without memory the process ends here: Node is
/// compiled without exceptions, and its lock would stay taken.
void EngineHost::wake_js() noexcept { (void)channel_.NonBlockingCall(); }

/// Not called after stop().
void EngineHost::call_js(Napi::Env env, Napi::Function on_completions, EngineHost* host, void*) {
  if (env == nullptr || !host->connected_) return;
  const auto alive = host->shared_from_this();
  host->drain(env, on_completions);
}

/// Handles all pending events on the JS thread, in the order in which they can occur.
void EngineHost::drain(Napi::Env env, Napi::Function on_completions) {
  PendingEvents events;
  {
    const std::lock_guard lock(events_mutex_);
    std::swap(events, events_);
  }
  if (events.load_result) {
    unref_event_loop(1);
    if (helper_.joinable()) helper_.join();  // the loader, which has ended
    loading_.reset();
    if (events.load_result->empty()) {
      loaded_ = true;
      report_memory_to_v8(model_.file_bytes);
    }
    on_loaded_(env, *events.load_result);
  }
  // An exception of the callback is thrown again after the other events, which are not repeated.
  std::optional<Napi::Error> failure;
  if (!events.completions.empty()) {
    unref_event_loop(events.completions.size());
    try {
      on_completions.Call({to_js(env, events.completions)});
    } catch (const Napi::Error& error) {
      failure = error;
    }
  }
  if (events.closed) unload();
  if (events.freed) {
    unref_event_loop(1);
    report_memory_to_v8(0);
    on_closed_(env);
    stop();
  }
  if (failure) throw Napi::Error(*failure);
}

void EngineHost::ref_event_loop(size_t tasks) {
  if (outstanding_ == 0) channel_.Ref(env_);
  outstanding_ += tasks;
}

void EngineHost::unref_event_loop(size_t tasks) {
  outstanding_ -= tasks;
  if (outstanding_ == 0) channel_.Unref(env_);
}

}  // namespace node
