// Inputs and outputs of a model, as far as the scheduler knows them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "scheduler/siphash.h"

namespace scheduler {

/// An input as the client sent it. Only the backend knows its content.
class Input {
 public:
  virtual ~Input() = default;

  /// Size in bytes. The limit of the queue counts it.
  virtual size_t bytes() const = 0;

  /// Number of texts of a list, 1 for other inputs. Limits of requests and counters count each.
  virtual size_t count() const { return 1; }
};
using InputPtr = std::unique_ptr<Input>;

/// An input as the model reads it, for example the token ids of a text. Immutable, so any thread
/// may read it.
class PreparedInput {
 public:
  virtual ~PreparedInput() = default;

  /// Cost in a batch: tokens of a text, 1 for a window of a signal.
  virtual size_t cost() const = 0;

  /// Whether the input was longer than the model's limit. Its cost then says nothing about the
  /// ratio of tokens to bytes.
  virtual bool is_truncated() const { return false; }

  /// False: preparation has produced the whole response, and the model is not run.
  virtual bool needs_run() const { return true; }

  /// Adds everything that the output depends on: inputs with equal hashes share a cached output.
  virtual void add_to(SipHash128& hash) const = 0;
};
using PreparedPtr = std::shared_ptr<const PreparedInput>;

/// The inputs of one run, in any order of lengths. Does not own them.
using Batch = std::span<const PreparedInput* const>;

/// Output of one input: [rows, columns]. One row (logits, or an embedding), or one row for each
/// token.
struct Output {
  std::vector<float> values;  ///< row by row
  size_t rows = 1;

  bool operator==(const Output&) const = default;
};

}  // namespace scheduler
