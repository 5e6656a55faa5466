#include "engine_host.h"

#include <system_error>
#include <utility>

#include "completions.h"
#include "engine/left_behind.h"

namespace addon {
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
  try {
    client_ = clients_->add([this](engine::Completions ended) { deliver(std::move(ended)); });
    loading_ = Loading::create(std::move(arguments),
                               [clients = clients_](engine::Completions ended) noexcept {
                                 clients->deliver(std::move(ended));
                               });
    helper_ = std::thread([this] { tell_loaded(try_to_load()); });
  } catch (...) {
    tell_loaded(load_problem());
  }
}

void EngineHost::attach(SharedModel shared) {
  attached_ = true;
  engine_ = std::move(shared.engine);
  description_ = std::move(shared.description);
  clients_ = std::move(shared.clients);
  client_ = clients_->add([this](engine::Completions ended) { deliver(std::move(ended)); });
  loaded_ = true;
}

/// Empty: engine_ is set. Else why it is not.
std::string EngineHost::try_to_load() noexcept {
  try {
    Loading::Loaded loaded = loading_->run();
    engine_ = std::move(loaded.engine);
    description_ = std::move(loaded.description);
    return "";
  } catch (...) {
    return load_problem();
  }
}

engine::Admission EngineHost::submit(uint64_t first_ticket, std::vector<engine::Input> inputs,
                                     engine::Clock::time_point deadline) {
  const size_t count = inputs.size();
  if (!engine_) return {.status = engine::Status::kDraining};
  const auto admission =
      engine_->submit(Clients::ticket(client_, first_ticket), std::move(inputs), deadline);
  if (admission.status == engine::Status::kOk) hold_loop(count);
  return admission;
}

void EngineHost::cancel(uint64_t ticket) {
  if (engine_) engine_->cancel(Clients::ticket(client_, ticket));
}

void EngineHost::drop() {
  if (engine_) engine_->drop();
}

engine::Statistics EngineHost::statistics() const {
  return engine_ ? engine_->statistics() : last_statistics_;
}

void EngineHost::close(CloseHandler on_closed) {
  on_closed_ = std::move(on_closed);
  if (attached_) return leave_when_idle(env_);
  hold_loop(1);
  if (helper_.joinable()) helper_.join();  // the loader, which is done
  try {
    helper_ = std::thread([this] {
      engine_->close();
      tell_closed();
    });
  } catch (...) {
    // No thread to be had. Blocks the event loop for as long as accepted requests take.
    engine_->close();
    tell_closed();
  }
}

/// Attached. The engine's threads go on; nothing that they do concerns this environment any more.
void EngineHost::leave_when_idle(Napi::Env env) {
  if (outstanding_ > 0 || !connected_) return;
  on_closed_(env);
  stop();
  last_statistics_ = engine_->statistics();
  engine_.reset();
}

/// The JavaScript object may live on for long. A model takes milliseconds to free: not on the JS
/// thread.
void EngineHost::unload() {
  if (helper_.joinable()) helper_.join();  // it has said that it is closed
  if (!engine_->abort_within(std::chrono::seconds(0))) {
    tell_freed();  // it is not: a run of the model does not come back, and stop() leaves it behind
    return;
  }
  last_statistics_ = engine_->statistics();
  try {
    helper_ = std::thread([this, engine = std::move(engine_)]() mutable {
      engine.reset();
      tell_freed();
    });
  } catch (...) {
    engine_.reset();  // no thread to be had: freed here
    tell_freed();
  }
}

void EngineHost::stop() {
  if (!connected_) return;
  connected_ = false;
  clients_->remove(client_);
  if (!attached_) stop_threads();
  napi_remove_env_cleanup_hook(env_, on_environment_end, this);
  channel_.Abort();
}

void EngineHost::stop_threads() {
  if (loading_) loading_->cancel();
  // Lets a close() that is under way end soon.
  if (loaded_ && engine_) engine_->abort_within(kPatience);
  if (helper_.joinable()) helper_.join();
  if (engine_ && !engine_->abort_within(loaded_ ? std::chrono::seconds(0) : kPatience)) {
    engine::leave_behind([engine = engine_] { engine->abort(); });
  }
}

void EngineHost::deliver(engine::Completions completions) noexcept {
  {
    const std::lock_guard lock(news_mutex_);
    news_.ended.splice(news_.ended.end(), completions);
  }
  wake_js();
}

void EngineHost::tell_loaded(std::string error) noexcept {
  {
    const std::lock_guard lock(news_mutex_);
    news_.load_ended = true;
    news_.load_error = std::move(error);
  }
  wake_js();
}

void EngineHost::tell_closed() noexcept {
  {
    const std::lock_guard lock(news_mutex_);
    news_.closed = true;
  }
  wake_js();
}

void EngineHost::tell_freed() noexcept {
  {
    const std::lock_guard lock(news_mutex_);
    news_.freed = true;
  }
  wake_js();
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
  if (news.load_ended) {
    release_loop(1);
    loaded_ = news.load_error.empty();
    on_loaded_(env, news.load_error);
  }
  if (!news.ended.empty()) {
    release_loop(news.ended.size());
    on_completions.Call({to_js(env, news.ended)});
    if (attached_ && on_closed_) leave_when_idle(env);
  }
  if (news.closed) unload();
  if (news.freed) {
    release_loop(1);
    on_closed_(env);
    stop();
  }
}

void EngineHost::hold_loop(size_t tasks) {
  if (outstanding_ == 0) channel_.Ref(env_);
  outstanding_ += tasks;
}

void EngineHost::release_loop(size_t tasks) {
  outstanding_ -= tasks;
  if (outstanding_ == 0) channel_.Unref(env_);
}

}  // namespace addon
