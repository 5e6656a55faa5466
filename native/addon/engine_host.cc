#include "engine_host.h"

#include <utility>

#include "completions.h"
#include "engine/left_behind.h"

namespace addon {
namespace {

/// How long a batch that runs may keep the process from ending.
constexpr std::chrono::seconds kPatience{1};

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
  hold_loop(1);
  line_->host = this;
  loading_ =
      Loading::begin(std::move(arguments), [line = line_](std::vector<engine::Completion> ended) {
        const std::lock_guard lock(line->mutex);
        if (line->host) line->host->deliver(std::move(ended));
      });
  helper_ = std::thread([this, on_loaded] {
    std::string error;
    try {
      Loading::Loaded loaded = loading_->await();
      engine_ = std::move(loaded.engine);
      description_ = std::move(loaded.description);
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

engine::Admission EngineHost::submit(uint64_t first_ticket, std::vector<engine::Input> inputs,
                                     engine::Clock::time_point deadline) {
  const size_t count = inputs.size();
  const auto admission = engine_->submit(first_ticket, std::move(inputs), deadline);
  if (admission.status == engine::Status::kOk) hold_loop(count);
  return admission;
}

void EngineHost::deliver(std::vector<engine::Completion> completions) {
  auto shared = std::make_shared<std::vector<engine::Completion>>(std::move(completions));
  post([this, shared](Napi::Env env, Napi::Function on_completions) {
    release_loop(shared->size());
    on_completions.Call({to_js(env, *shared)});
  });
}

void EngineHost::close(std::function<void(Napi::Env)> on_closed) {
  hold_loop(1);
  if (helper_.joinable()) helper_.join();  // the loader, which is done
  helper_ = std::thread([this, on_closed = std::move(on_closed)] {
    engine_->close();
    post([this, on_closed](Napi::Env env, Napi::Function) {
      release_loop(1);
      on_closed(env);
      stop();
    });
  });
}

void EngineHost::stop() {
  if (!connected_) return;
  connected_ = false;
  {
    const std::lock_guard lock(line_->mutex);
    line_->host = nullptr;
  }
  if (loading_) loading_->cancel();
  if (loaded_) engine_->abort_within(kPatience);  // lets a close() that is under way end soon
  if (helper_.joinable()) helper_.join();
  if (engine_ && !engine_->abort_within(loaded_ ? std::chrono::seconds(0) : kPatience)) {
    engine::leave_behind([engine = engine_] { engine->abort(); });
  }
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

void EngineHost::hold_loop(size_t tasks) {
  if (outstanding_ == 0) channel_.Ref(env_);
  outstanding_ += tasks;
}

void EngineHost::release_loop(size_t tasks) {
  outstanding_ -= tasks;
  if (outstanding_ == 0) channel_.Unref(env_);
}

}  // namespace addon
