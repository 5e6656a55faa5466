// Loading of a model, which may hang.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "arguments.h"

namespace node {

/// A loaded model with its queue.
struct Model {
  std::shared_ptr<scheduler::ModelQueue> queue;  ///< null before the load ends and after close()
  scheduler::Description description;
  backend::ModelReport report;
  /// Null for a signal model. It keeps the backend in memory, so it is released with the queue.
  std::shared_ptr<const backend::Vocabulary> vocabulary;
  size_t file_bytes = 0;  ///< size of the weights or of the program
};

/// Loads a model and creates its queue on a thread of its own. If the model hangs while it is
/// tested, or if the load is cancelled, the thread is abandoned.
class Loading : public std::enable_shared_from_this<Loading> {
 public:
  /// on_completions: see ModelQueue.
  Loading(LoadArguments arguments, scheduler::CompletionHandler on_completions)
      : arguments_(std::move(arguments)), on_completions_(std::move(on_completions)) {}

  /// Loads the model; returns when the load has ended or is abandoned. Throws the error of the
  /// load, common::LoadError, or std::system_error if no thread can be started. Call it once.
  Model run();

  /// Makes run() return soon. Any thread.
  void cancel();

 private:
  backend::LoadedModel load_backend() const;
  Model load_model() const;
  void load() noexcept;

  const LoadArguments arguments_;
  const scheduler::CompletionHandler on_completions_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Model loaded_;
  std::exception_ptr error_;
  bool ended_ = false;
  bool cancelled_ = false;
  bool abandoned_ = false;  ///< the result is discarded
  std::thread thread_;
};

}  // namespace node
