// The one interface between the engine (queues, workers) and what computes.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scheduler/batch.h"

namespace kernels {
class ThreadPool;
using LentPool = std::atomic<ThreadPool*>;
}  // namespace kernels

namespace scheduler {

/// What the engine has to know of a model.
struct Description {
  size_t max_length = 0;  ///< tokens of a text, special tokens included, or samples of a window
  bool batching = false;  ///< several requests may share a run; else each runs alone
  bool needs_preparation = false;  ///< prepare() is worth a thread of its own (tokenization)
  bool uses_pool = false;          ///< run() shares its work with the threads that it is given
};

/// An error whose message may be shown to a client: no path, no stack.
class BackendError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An input that has more tokens than fit, and that may not be cut as it would have to be. For
/// whoever sent it.
class InputTooLong : public BackendError {
 public:
  using BackendError::BackendError;
};

/// A run that took longer than it may.
class RunTimeout : public BackendError {
 public:
  explicit RunTimeout(std::chrono::milliseconds limit)
      : BackendError("The model ran longer than " + std::to_string(limit.count()) + " ms.") {}
};

/// A loaded model. Loading happens in the constructor of the implementation, which throws.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Description description() const = 0;

  /// Input → what the model reads. Any thread, several at once. Throws BackendError;
  /// InputTooLong is the input's own fault.
  virtual Sequence prepare(Input input) const = 0;

  /// Once on each worker thread, before its first run(): warm-up. Other models may run on the same
  /// thread. Returns something to run, by which the engine learns how fast this model is before the
  /// first request.
  virtual std::optional<Sequence> prepare_thread(const kernels::LentPool& pool) = 0;

  /// One batch; an output for each element, in order. Worker threads, several at once. `pool`: the
  /// threads that may help, the worker's own share of the cores or, while no other batch runs or
  /// waits, all that the model may use; null where the description wants none.
  /// Throws BackendError, after which nothing of the batch has been answered.
  virtual std::vector<Output> run(Batch batch, const kernels::LentPool& pool) = 0;
};

}  // namespace scheduler
