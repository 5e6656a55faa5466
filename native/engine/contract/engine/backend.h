// The one interface between the engine (queue, workers) and what computes.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/batch.h"

namespace engine {

/// What came of trying a signal model at load, on windows of noise and one of zeros, each alone:
/// nothing in its file says what it takes and gives.
struct Trial {
  std::vector<Logits> outputs;  ///< of the windows that ran
  std::string error;            ///< of the first window that did not; empty: all ran
  bool repeatable = true;       ///< the same window, tried again, had the same answer
};

/// What multiplies, for the log, /info and metrics: of two models of which this and the files are
/// the same, the answers are.
struct Multiplication {
  std::string linear;        ///< numbers and kernel of the linear layers: "bfloat16 amx"
  std::string attention;     ///< the same of attention; empty: it is none of ours
  std::string instructions;  ///< that may be used: a value of the setting INSTRUCTIONS
};

/// What a loaded model says of itself.
struct Description {
  std::string backend;     ///< "text-encoder", "torchscript" or "exported"
  size_t max_length = 0;   ///< tokens of a text, special tokens included, or samples of a window
  size_t num_outputs = 0;  ///< logits a request; 0: a signal model of which no trial ran
  bool batching = false;   ///< several requests may share a run; else each runs alone
  bool needs_preparation = false;  ///< prepare() is worth a thread of its own (tokenization)
  Trial trial{};                   ///< empty for a text model
  Multiplication multiplication{};
  /// For the log, a line each: what is slower here than it could be.
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::vector<std::string> warnings{};
};

/// What a batch may compute with: the worker's own share of the cores or, while no other batch runs
/// or waits, all of them.
enum class Cores { kOwn, kAll };

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

  /// Once on each worker thread, before its first run(): per-thread settings and warm-up. Returns
  /// something to run, by which the engine learns how fast this model is before the first request.
  virtual std::optional<Sequence> prepare_thread() = 0;

  /// One batch; a result for each element, in order. Worker threads, several at once.
  /// Throws BackendError, after which nothing of the batch has been answered.
  virtual std::vector<Logits> run(Batch batch, Cores cores) = 0;
};

}  // namespace engine
