// How long one run of a program may take, and how much memory its trial.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/backends.h"

namespace backend {

/// When a run is to end and how far the process may grow by then, and which of them it met.
struct RunBounds;

/// While it lives, what looks at it (check_run_limit) ends when the time is up, in what this thread
/// runs and forks, and a load that waits for this run can see since when.
class RunLimit {
 public:
  /// `tried`: the name of a file whose model is being tried, which may not make the process grow by
  /// more than 1 GiB and what is allowed beside it: `beside`, in bytes.
  explicit RunLimit(const ComputeOptions& compute, std::string tried = {}, size_t beside = 0);
  ~RunLimit();
  RunLimit(const RunLimit&) = delete;
  RunLimit& operator=(const RunLimit&) = delete;

  /// For the handler of what a run threw: throws scheduler::RunTimeout where it is the consequence of
  /// the time, LoadError where it is that of the memory.
  void throw_if_reached() const;

 private:
  std::shared_ptr<LoadProgress> progress_;
  std::string tried_;
  std::chrono::milliseconds run_limit_;
  size_t most_memory_;
  std::shared_ptr<RunBounds> bounds_;
  c10::DebugInfoGuard guard_;
};

/// Makes LibTorch ask for the memory of tensors in a way that can be limited. Before a model runs.
void limit_tensors();

/// Between two operators of what runs: throws where the time of this thread's run is up, or its
/// memory. The handler of what a run threw makes of it what RunLimit::throw_if_reached() says.
void check_run_limit();

/// Of a list or a string that is about to grow: throws in a trial where it is too much.
void check_length(int64_t length);

}  // namespace backend
