// A model on the JS thread: load, requests, completions, close, and the end of the environment.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "arguments.h"
#include "completion_router.h"
#include "loading.h"
#include "scheduler/model_queue.h"

namespace node {

/// Life cycle: load → (submit …) → close. stop() may be called at any time on the JS thread.
///
/// Owned by objects of the JS thread only. Other threads hold raw pointers; stop() joins them, or
/// abandons a hung thread together with its queue.
///
/// An environment can end in two ways. A drained event loop and worker.terminate() run the
/// clean-up hook. process.exit() and an uncaught exception only emit the 'exit' event, on which
/// src/native/addon.ts calls stopAll(). Both call stop(). Then no thread of ours is left, or exit()
/// ends the process immediately (scheduler/abandoned_threads.h).
class EngineHost : public std::enable_shared_from_this<EngineHost> {
 public:
  /// Called on the JS thread. error: why the model could not be loaded; empty: it is loaded.
  using LoadHandler = std::function<void(Napi::Env, const std::string& error)>;
  /// Called on the JS thread.
  using CloseHandler = std::function<void(Napi::Env)>;

  /// JS thread. on_completions: (completions: Completion[]) => void, see src/native/binding.ts.
  static std::shared_ptr<EngineHost> create(Napi::Env env, Napi::Function on_completions);
  ~EngineHost();
  EngineHost(const EngineHost&) = delete;
  EngineHost& operator=(const EngineHost&) = delete;

  /// Loads the model on a thread of its own. JS thread, once.
  void load(LoadArguments arguments, LoadHandler on_loaded);

  // JS thread, after a successful load:
  const Model& model() const { return model_; }
  scheduler::Admission submit(uint64_t first_ticket, std::vector<scheduler::InputPtr> inputs,
                              scheduler::Clock::time_point deadline);
  scheduler::Admission admission(scheduler::Clock::time_point deadline) const {
    if (!model_.queue) return {.status = scheduler::Status::kDraining};
    return model_.queue->admission(deadline);
  }
  void cancel(uint64_t ticket);
  scheduler::Statistics statistics() const;

  /// Rejects new requests and completes the waiting ones as kDraining.
  void drop();

  /// Rejects new requests, finishes the accepted ones, frees the model and calls back on the JS
  /// thread. The model is freed even if JavaScript still references the object. A hung run keeps it
  /// until the run returns. JS thread, once.
  void close(CloseHandler on_closed);
  /// True before close() and stop(). JS thread.
  bool is_open() const { return connected_ && !on_closed_; }
  /// True while the model is in memory. JS thread.
  bool has_model() const { return model_.queue != nullptr; }

  /// Drops waiting requests, joins or abandons every thread, and disconnects from JavaScript.
  /// JS thread; further calls have no effect.
  void stop();

 private:
  /// Events of other threads that the JS thread has not handled yet. Adding one allocates nothing.
  struct PendingEvents {
    scheduler::Completions completions;
    std::optional<std::string> load_result;  ///< error of a load that has ended; empty: success
    bool closed = false;
    bool freed = false;
  };
  static void call_js(Napi::Env env, Napi::Function on_completions, EngineHost* host, void*);
  using JsChannel = Napi::TypedThreadSafeFunction<EngineHost, void, call_js>;

  explicit EngineHost(Napi::Env env);
  template <class Change>
  void post(const Change& change) noexcept;
  void wake_js() noexcept;
  void drain(Napi::Env env, Napi::Function on_completions);
  /// Everything that keeps a model in memory.
  struct ModelMemory {
    std::shared_ptr<scheduler::ModelQueue> queue;
    std::shared_ptr<const backend::Vocabulary> vocabulary;
  };
  ModelMemory take_model();
  void unload();
  void report_memory_to_v8(size_t bytes);
  void stop_threads();
  void ref_event_loop(size_t tasks);
  void unref_event_loop(size_t tasks);
  static void on_environment_end(void* host);

  Napi::Env env_;
  JsChannel channel_;
  std::shared_ptr<CompletionRouter> router_;
  bool connected_ = false;  ///< JS thread: channel_ and the clean-up hook exist
  size_t outstanding_ = 0;  ///< JS thread: responses and tasks that keep the event loop alive
  std::shared_ptr<Loading> loading_;
  Model model_;
  scheduler::Statistics last_statistics_{};  ///< of a queue that is closed or abandoned
  bool loaded_ = false;                      ///< JS thread: the load has succeeded
  size_t reported_bytes_ = 0;                ///< JS thread: external memory that V8 accounts for
  LoadHandler on_loaded_;
  CloseHandler on_closed_;
  std::mutex events_mutex_;
  PendingEvents events_;  ///< guarded by events_mutex_
  std::thread helper_;    ///< loads the model, later closes and frees it
};

}  // namespace node
