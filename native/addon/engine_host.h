// An engine as one JavaScript environment owns it: its threads, its way back to the JS thread, and
// its end, whichever way the environment ends.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "arguments.h"
#include "engine/engine.h"

namespace addon {

/// Life: load → (submit …) → close, with stop() possible at any moment from the JS thread. Owned by
/// JS-thread objects alone: the threads hold no reference, stop() waits for them.
///
/// An environment ends in several ways. A drained event loop and worker.terminate() run clean-up
/// hooks; process.exit() and an uncaught exception run none of them, only the 'exit' event, where
/// src/native/load.ts calls stopAll(). Both lead to stop(): after it no thread of ours is left.
class EngineHost : public std::enable_shared_from_this<EngineHost> {
 public:
  /// A task for the JS thread.
  using Task = std::function<void(Napi::Env, Napi::Function on_completions)>;
  /// Called on the JS thread: an empty string, or why the model could not be loaded.
  using LoadHandler = std::function<void(Napi::Env, const std::string& error)>;

  /// JS thread. on_completions: (completions: Completion[]) => void, see src/native/binding.ts.
  static std::shared_ptr<EngineHost> create(Napi::Env env, Napi::Function on_completions);
  ~EngineHost();
  EngineHost(const EngineHost&) = delete;
  EngineHost& operator=(const EngineHost&) = delete;

  /// Load model and start the engine on a thread of its own. JS thread, once.
  void load(LoadArguments arguments, const LoadHandler& on_loaded);

  /// JS thread, after a successful load.
  engine::Status submit(uint64_t ticket, engine::Input input, engine::Clock::time_point deadline);
  void cancel(uint64_t ticket);
  engine::Statistics statistics() const;
  engine::Description description() const { return description_; }

  /// Refuse new work, finish what was accepted, free the model, then call back on the JS thread. JS
  /// thread, once.
  void close(std::function<void(Napi::Env)> on_closed);

  /// Drop what waits, end every thread, disconnect from JavaScript. JS thread; may be repeated.
  void stop();

 private:
  static void call_js(Napi::Env env, Napi::Function callback, EngineHost* host, Task* task);
  using JsChannel = Napi::TypedThreadSafeFunction<EngineHost, Task, call_js>;

  explicit EngineHost(Napi::Env env) : env_(env) {}
  void unload(const std::function<void(Napi::Env)>& on_closed);
  void run_helper(std::function<void()> work);
  void post(Task task);
  void deliver(std::vector<engine::Completion> completions);
  void hold_loop();
  void release_loop(size_t tasks);
  static void on_environment_end(void* host);

  Napi::Env env_;
  JsChannel channel_;
  bool connected_ = false;  ///< JS thread: channel_ and the clean-up hook are alive
  size_t outstanding_ = 0;  ///< JS thread: answers that the event loop must stay alive for
  std::unique_ptr<engine::Engine> engine_;  ///< null before it is loaded and once it is closed
  engine::Statistics last_statistics_{};
  engine::Description description_;
  bool loaded_ = false;  ///< JS thread: engine_ is set and no longer changes
  std::thread helper_;   ///< loads, later closes, and then frees
};

}  // namespace addon
