// How long one run of a TorchScript model may take: endless loops end with an error.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <atomic>
#include <chrono>
#include <memory>

#include "backend/backends.h"

namespace torch::jit {
struct CompilationUnit;
}

namespace backend {

/// When a run is to end, and whether a loop was ended then.
struct Deadline final : c10::DebugInfoBase {
  explicit Deadline(std::chrono::steady_clock::time_point when) : time(when) {}

  const std::chrono::steady_clock::time_point time;
  std::atomic<bool> was_reached{false};
};

/// While it lives, loops of guarded code end when the time is up, in what this thread runs and
/// forks, and a load that waits for this run can see since when.
class RunLimit {
 public:
  explicit RunLimit(const ComputeOptions& compute);
  ~RunLimit();
  RunLimit(const RunLimit&) = delete;
  RunLimit& operator=(const RunLimit&) = delete;

  /// Whether a loop was ended: what the run threw is then the consequence.
  bool was_reached() const { return deadline_->was_reached; }

 private:
  std::shared_ptr<LoadProgress> progress_;
  std::shared_ptr<Deadline> deadline_;
  c10::DebugInfoGuard guard_;
};

/// Puts a look at the clock into the body of every loop, of all functions of a file. To be called
/// before any of them runs. What the interpreter cannot be kept from is one operator that takes for
/// ever.
void guard_loops(torch::jit::CompilationUnit& functions);

}  // namespace backend
