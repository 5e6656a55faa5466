// An engine as one JavaScript environment has it: its threads, its way back to the JS thread, and
// its end, whichever way the environment ends.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "arguments.h"
#include "clients.h"
#include "scheduler/engine.h"
#include "loading.h"
#include "shared_models.h"

namespace node {

/// Life: load → (submit …) → close, with stop() possible at any moment from the JS thread. Owned by
/// JS-thread objects alone: the threads hold no reference, stop() waits for them. But not for ever:
/// a thread that the model does not give back is detached, with the engine that it belongs to.
///
/// Or: attach → (submit …) → close, in an environment beside the one that has loaded it, to which
/// the threads belong: its stop() waits for none.
///
/// An environment ends in several ways. A drained event loop and worker.terminate() run clean-up
/// hooks; process.exit() and an uncaught exception run none of them, only the 'exit' event, where
/// src/native/load.ts calls stopAll(). Both lead to stop(): after it no thread of ours is left, or
/// exit() leaves at once (engine/detached.h).
class EngineHost : public std::enable_shared_from_this<EngineHost> {
 public:
  /// Called on the JS thread: an empty string, or why the model could not be loaded.
  using LoadHandler = std::function<void(Napi::Env, const std::string& error)>;
  /// Called on the JS thread.
  using CloseHandler = std::function<void(Napi::Env)>;

  /// JS thread. on_completions: (completions: Completion[]) => void, see src/native/binding.ts.
  static std::shared_ptr<EngineHost> create(Napi::Env env, Napi::Function on_completions);
  ~EngineHost();
  EngineHost(const EngineHost&) = delete;
  EngineHost& operator=(const EngineHost&) = delete;

  /// Load model and start the engine on a thread of its own. JS thread, once.
  void load(LoadArguments arguments, LoadHandler on_loaded);

  /// Use the engine of another environment. JS thread, once, instead of load().
  void attach(Model shared);

  /// For attach() elsewhere. JS thread, after a successful load.
  const Model& model() const { return model_; }

  /// JS thread, after a successful load.
  scheduler::Admission submit(uint64_t first_ticket, std::vector<scheduler::InputPtr> inputs,
                           scheduler::Clock::time_point deadline);
  scheduler::Admission admission(scheduler::Clock::time_point deadline) const {
    if (!model_.engine) return {.status = scheduler::Status::kDraining};
    return model_.engine->admission(deadline);
  }
  void cancel(uint64_t ticket);
  scheduler::Statistics statistics() const;

  /// Refuse new work, answer what waits with kDraining.
  void drop();

  /// Refuse new work, finish what was accepted, free the model, then call back on the JS thread.
  /// The model is freed whatever JavaScript refers to, and whoever asks for it later is refused.
  /// Where a run does not come back, the model is freed when it does. Attached: finish what was
  /// accepted from here, leave the engine. JS thread, once.
  void close(CloseHandler on_closed);
  /// Neither close() nor stop() was called. JS thread.
  bool is_open() const { return connected_ && !on_closed_; }
  /// The model is in memory. JS thread.
  bool has_model() const { return model_.engine != nullptr; }

  /// Drop what waits, end or detach every thread, disconnect from JavaScript. JS thread;
  /// may be repeated.
  void stop();

 private:
  /// What other threads have to say to the JS thread. Saying it takes no memory of ours.
  struct News {
    scheduler::Completions ended;
    std::optional<std::string> load_problem;  ///< of a load that has ended; empty: loaded
    bool closed = false;
    bool freed = false;
  };
  static void call_js(Napi::Env env, Napi::Function on_completions, EngineHost* host, void*);
  using JsChannel = Napi::TypedThreadSafeFunction<EngineHost, void, call_js>;

  explicit EngineHost(Napi::Env env) : env_(env) {}
  void receive();
  template <class Change>
  void tell(const Change& change) noexcept;
  void wake_js() noexcept;
  void catch_up(Napi::Env env, Napi::Function on_completions);
  /// All that keeps a model in memory.
  struct Held {
    std::shared_ptr<scheduler::Engine> engine;
    std::shared_ptr<const backend::Vocabulary> vocabulary;
  };
  Held take_model();
  void unload();
  void tell_v8(size_t bytes);
  void stop_threads();
  void leave_when_idle(Napi::Env env);
  void hold_loop(size_t tasks);
  void release_loop(size_t tasks);
  static void on_environment_end(void* host);

  Napi::Env env_;
  JsChannel channel_;
  bool connected_ = false;  ///< JS thread: channel_ and the clean-up hook are alive
  size_t outstanding_ = 0;  ///< JS thread: answers that the event loop must stay alive for
  Clients::Id client_ = 0;
  bool attached_ = false;
  std::shared_ptr<Loading> loading_;
  Model model_;
  scheduler::Statistics last_statistics_{};
  bool loaded_ = false;    ///< JS thread: the engine is there, until it is closed
  size_t told_bytes_ = 0;  ///< JS thread: what V8 knows of the model's memory
  LoadHandler on_loaded_;
  CloseHandler on_closed_;
  std::mutex news_mutex_;
  News news_;
  std::thread helper_;  ///< loads, later closes, and then frees
};

}  // namespace node
