#include "engine_host.h"

#include <utility>

#include "completions.h"

namespace addon {
namespace {

std::shared_ptr<engine::Backend> load_backend(const LoadArguments& arguments) {
  if (const auto* text = std::get_if<backend::TextModelSource>(&arguments.source)) {
    return backend::load_text_encoder(*text, arguments.compute);
  }
  if (const auto* text = std::get_if<backend::TorchScriptTextSource>(&arguments.source)) {
    return backend::load_torchscript_text(*text, arguments.compute);
  }
  return backend::load_torchscript(std::get<backend::TorchScriptSource>(arguments.source),
                                   arguments.compute);
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

void EngineHost::load(LoadArguments arguments, const LoadHandler& on_loaded) {
  hold_loop();
  helper_ = std::thread([this, arguments = std::move(arguments), on_loaded] {
    std::string error;
    try {
      auto backend = load_backend(arguments);
      description_ = backend->description();
      engine_ = std::make_unique<engine::Engine>(
          std::move(backend), arguments.scheduling,
          [this](std::vector<engine::Completion> ended) { deliver(std::move(ended)); });
    } catch (const std::exception& failure) {
      error = failure.what();
    } catch (...) {
      error = "unknown error";
    }
    post([this, error, on_loaded](Napi::Env env, Napi::Function) {
      release_loop(1);
      loaded_ = error.empty();
      on_loaded(env, error);
    });
  });
}

engine::Status EngineHost::submit(uint64_t ticket, engine::Input input,
                                  engine::Clock::time_point deadline) {
  if (!engine_) return engine::Status::kDraining;
  const engine::Status status = engine_->submit(ticket, std::move(input), deadline);
  if (status == engine::Status::kOk) hold_loop();
  return status;
}

void EngineHost::deliver(std::vector<engine::Completion> completions) {
  auto shared = std::make_shared<std::vector<engine::Completion>>(std::move(completions));
  post([this, shared](Napi::Env env, Napi::Function on_completions) {
    release_loop(shared->size());
    on_completions.Call({to_js(env, *shared)});
  });
}

void EngineHost::cancel(uint64_t ticket) {
  if (engine_) engine_->cancel(ticket);
}

engine::Statistics EngineHost::statistics() const {
  return engine_ ? engine_->statistics() : last_statistics_;
}

void EngineHost::close(std::function<void(Napi::Env)> on_closed) {
  hold_loop();
  run_helper([this, on_closed = std::move(on_closed)] {
    engine_->close();
    post([this, on_closed](Napi::Env, Napi::Function) { unload(on_closed); });
  });
}

/// The JavaScript object may live on for long. A model takes milliseconds to free: not on the JS
/// thread.
void EngineHost::unload(const std::function<void(Napi::Env)>& on_closed) {
  last_statistics_ = engine_->statistics();
  run_helper([this, on_closed, engine = std::shared_ptr(std::move(engine_))]() mutable {
    engine.reset();
    post([this, on_closed](Napi::Env env, Napi::Function) {
      release_loop(1);
      on_closed(env);
      stop();
    });
  });
}

/// Once the one before has ended.
void EngineHost::run_helper(std::function<void()> work) {
  if (helper_.joinable()) helper_.join();
  helper_ = std::thread(std::move(work));
}

void EngineHost::stop() {
  if (!connected_) return;
  connected_ = false;
  if (loaded_ && engine_) engine_->abort();  // lets a close() that is under way end soon
  if (helper_.joinable()) helper_.join();
  if (engine_) engine_->abort();
  napi_remove_env_cleanup_hook(env_, on_environment_end, this);
  channel_.Abort();
}

/// Any thread. Tasks run in order, on the JS thread; none runs after stop().
void EngineHost::post(Task task) {
  auto owned = std::make_unique<Task>(std::move(task));
  if (channel_.NonBlockingCall(owned.get()) == napi_ok) (void)owned.release();
}

void EngineHost::call_js(Napi::Env env, Napi::Function callback, EngineHost* host, Task* task) {
  const std::unique_ptr<Task> owned(task);
  if (env == nullptr || !host->connected_) return;
  const auto alive = host->shared_from_this();
  (*owned)(env, callback);
}

void EngineHost::hold_loop() {
  if (outstanding_++ == 0) channel_.Ref(env_);
}

void EngineHost::release_loop(size_t tasks) {
  outstanding_ -= tasks;
  if (outstanding_ == 0) channel_.Unref(env_);
}

}  // namespace addon
