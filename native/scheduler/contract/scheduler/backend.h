// The interface between the scheduler (queues, workers) and the models.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scheduler/input.h"
#include "scheduler/thread_pool.h"

namespace scheduler {

/// Properties of a model that the scheduler depends on.
struct Description {
  size_t max_length = 0;  ///< tokens of a text, special tokens included, or samples of a window
  bool batching = false;  ///< several inputs may share a run; otherwise each runs alone
  bool needs_preparation = false;  ///< prepare() is slow (tokenization) and runs on its own thread
  bool uses_pool = false;          ///< run() shares its work with the threads of the pool
};

/// An error whose message may be sent to a client: it contains no path and no stack.
class BackendError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// Index of the text of a list that caused the error; empty: no single text, or no list.
  std::optional<size_t> element;
};

/// The input has more tokens than the model takes and must not be truncated: an error of the
/// client.
class InputTooLong : public BackendError {
 public:
  using BackendError::BackendError;
};

/// A run exceeded its time limit.
class RunTimeout : public BackendError {
 public:
  explicit RunTimeout(std::chrono::milliseconds limit)
      : BackendError("The model ran longer than " + std::to_string(limit.count()) + " ms.") {}
};

/// A loaded model. The constructor of the implementation loads it, and throws if that fails.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Description description() const = 0;

  /// Converts an input to the form that the model reads, for example tokenizes it. Any thread,
  /// several at once. Throws BackendError; InputTooLong is the client's error.
  virtual PreparedPtr prepare(InputPtr input) const = 0;

  /// Warms up the calling worker thread, once before its first run(). Other models may run on the
  /// same thread. Returns an input for measuring the model's speed before the first request; null:
  /// nothing is measured.
  virtual PreparedPtr prepare_thread(const AssignedPool& pool) = 0;

  /// Runs one batch and returns an output for each input, in order. Worker threads, several at
  /// once. `pool`: helper threads for this batch, either the worker's own or, while no other batch
  /// runs or waits, a pool with all cores of the model; null if Description::uses_pool is false.
  /// Throws BackendError: then no input of the batch has an output.
  virtual std::vector<Output> run(Batch batch, const AssignedPool& pool) = 0;

  /// Number of inputs whose hidden states an encoder shared with other models had already produced.
  /// Any thread.
  virtual uint64_t reused_states() const { return 0; }
};

}  // namespace scheduler
