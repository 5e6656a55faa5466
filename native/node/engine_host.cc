#include "engine_host.h"

#include <optional>
#include <system_error>
#include <utility>

#include "backend/memory.h"
#include "completions.h"
#include "scheduler/detached.h"

namespace node {
namespace {

/// How long a batch that runs may keep the process from ending.
constexpr std::chrono::seconds kPatience{1};

/// Why the model could not be loaded: the exception being handled.
std::string load_problem() noexcept {
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
    return "out of memory";  // short enough to need none
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace

template <class Change>
void EngineHost::tell(const Change& change) noexcept {
  {
    const std::lock_guard lock(news_mutex_);
    change(news_);
  }
  wake_js();
}

std::shared_ptr<EngineHost> EngineHost::create(Napi::Env env, Napi::Function on_completions) {
  const std::shared_ptr<EngineHost> host(new EngineHost(env));
  host->channel_ = JsChannel::New(env, on_completions, "libtorch-serve engine", 0, 1, host.get());
  host->channel_.Unref(env);
  host->connected_ = true;
  // Hooks run last in, first out. The channel has one of its own, added before this one: our
  // threads have ended when it is torn down.
  napi_add_env_cleanup_hook(env, on_environment_end, host.get());
  return host;
}

EngineHost::~EngineHost() { stop(); }

void EngineHost::on_environment_end(void* host) { static_cast<EngineHost*>(host)->stop(); }

void EngineHost::load(LoadArguments arguments, LoadHandler on_loaded) {
  on_loaded_ = std::move(on_loaded);
  hold_loop(1);
  const auto ended = [this](std::string problem) {
    tell([&](News& news) { news.load_problem = std::move(problem); });
  };
  try {
    loading_ = std::make_shared<Loading>(std::move(arguments));
    helper_ = std::thread([this, ended] {
      try {
        model_ = loading_->run();
        ended("");
      } catch (...) {
        ended(load_problem());
      }
    });
  } catch (...) {
    ended(load_problem());
  }
}

void EngineHost::attach(Model shared) {
  attached_ = true;
  model_ = std::move(shared);
  receive();
}

void EngineHost::receive() {
  client_ = model_.clients->add([this](scheduler::Completions ended) noexcept {
    tell([&](News& news) { news.ended.splice(news.ended.end(), ended); });
  });
  loaded_ = true;
}

scheduler::Admission EngineHost::submit(uint64_t first_ticket, std::vector<scheduler::InputPtr> inputs,
                                     scheduler::Clock::time_point deadline) {
  const size_t count = inputs.size();
  if (!model_.engine) return {.status = scheduler::Status::kDraining};
  const auto admission =
      model_.engine->submit(Clients::ticket(client_, first_ticket), std::move(inputs), deadline);
  if (admission.status == scheduler::Status::kOk) hold_loop(count);
  return admission;
}

void EngineHost::cancel(uint64_t ticket) {
  if (model_.engine) model_.engine->cancel(Clients::ticket(client_, ticket));
}

void EngineHost::drop() {
  if (model_.engine) model_.engine->drop();
}

scheduler::Statistics EngineHost::statistics() const {
  return model_.engine ? model_.engine->statistics() : last_statistics_;
}

void EngineHost::close(CloseHandler on_closed) {
  on_closed_ = std::move(on_closed);
  if (attached_) return leave_when_idle(env_);
  hold_loop(1);
  if (helper_.joinable()) helper_.join();  // the loader, which is done
  try {
    helper_ = std::thread([this] {
      model_.engine->close();
      tell([](News& news) { news.closed = true; });
    });
  } catch (...) {
    // No thread to be had. Blocks the event loop for as long as accepted requests take.
    model_.engine->close();
    tell([](News& news) { news.closed = true; });
  }
}

/// Attached. The engine's threads go on; nothing that they do concerns this environment any more.
void EngineHost::leave_when_idle(Napi::Env env) {
  if (outstanding_ > 0 || !connected_) return;
  on_closed_(env);
  stop();
  last_statistics_ = model_.engine->statistics();
  model_.engine.reset();
}

/// The JavaScript object may live on for long, so it keeps nothing of the model. A model takes
/// milliseconds to free: not on the JS thread.
void EngineHost::unload() {
  if (helper_.joinable()) helper_.join();  // it has said that it is closed
  if (!model_.engine->abort_within(std::chrono::seconds(0))) {
    tell([](News& news) {
      news.freed = true;
    });  // it is not: a run of the model does not come back, and stop() detaches it
    return;
  }
  last_statistics_ = model_.engine->statistics();
  const auto held = std::make_shared<Held>(take_model());
  const auto free = [this](Held& held) {
    held = {};
    backend::give_back_free_memory();
    tell([](News& news) { news.freed = true; });
  };
  try {
    helper_ = std::thread([free, held] { free(*held); });
  } catch (...) {
    free(*held);  // no thread to be had: freed here
  }
}

EngineHost::Held EngineHost::take_model() {
  return {.engine = std::move(model_.engine), .vocabulary = std::move(model_.vocabulary)};
}

/// How much memory is freed when the JavaScript object is collected: V8 collects it the sooner.
void EngineHost::tell_v8(size_t bytes) {
  const auto change = static_cast<int64_t>(bytes) - static_cast<int64_t>(told_bytes_);
  if (change != 0) Napi::MemoryManagement::AdjustExternalMemory(env_, change);
  told_bytes_ = bytes;
}

void EngineHost::stop() {
  if (!connected_) return;
  connected_ = false;
  if (loaded_) model_.clients->remove(client_);
  if (!attached_) stop_threads();
  napi_remove_env_cleanup_hook(env_, on_environment_end, this);
  channel_.Abort();
}

void EngineHost::stop_threads() {
  if (loading_) loading_->cancel();
  // Lets a close() that is under way end soon.
  if (loaded_ && model_.engine) model_.engine->abort_within(kPatience);
  if (helper_.joinable()) helper_.join();
  if (model_.engine &&
      !model_.engine->abort_within(loaded_ ? std::chrono::seconds(0) : kPatience)) {
    last_statistics_ = model_.engine->statistics();
    scheduler::await_detached([held = take_model()]() mutable {
      held.engine->abort();
      held = {};
      backend::give_back_free_memory();
    });
  }
}

/// Any thread. Node's own queue takes some memory. Where there is none the process ends here: Node
/// is compiled without exceptions, so that one would leave its lock taken, and the process hang.
void EngineHost::wake_js() noexcept { (void)channel_.NonBlockingCall(); }

/// None runs after stop().
void EngineHost::call_js(Napi::Env env, Napi::Function on_completions, EngineHost* host, void*) {
  if (env == nullptr || !host->connected_) return;
  const auto alive = host->shared_from_this();
  host->catch_up(env, on_completions);
}

/// The JS thread hears what there is, in the order in which it happened.
void EngineHost::catch_up(Napi::Env env, Napi::Function on_completions) {
  News news;
  {
    const std::lock_guard lock(news_mutex_);
    std::swap(news, news_);
  }
  if (news.load_problem) {
    release_loop(1);
    if (helper_.joinable()) helper_.join();  // it has said that it is done
    loading_.reset();
    if (news.load_problem->empty()) {
      receive();
      tell_v8(model_.file_bytes);
    }
    on_loaded_(env, *news.load_problem);
  }
  // Raised again once the rest is told: it comes only once.
  std::optional<Napi::Error> failure;
  if (!news.ended.empty()) {
    release_loop(news.ended.size());
    try {
      on_completions.Call({to_js(env, news.ended)});
    } catch (const Napi::Error& error) {
      failure = error;
    }
    if (attached_ && on_closed_) leave_when_idle(env);
  }
  if (news.closed) unload();
  if (news.freed) {
    release_loop(1);
    tell_v8(0);
    on_closed_(env);
    stop();
  }
  if (failure) throw Napi::Error(*failure);
}

void EngineHost::hold_loop(size_t tasks) {
  if (outstanding_ == 0) channel_.Ref(env_);
  outstanding_ += tasks;
}

void EngineHost::release_loop(size_t tasks) {
  outstanding_ -= tasks;
  if (outstanding_ == 0) channel_.Unref(env_);
}

}  // namespace node
