// Limits of a program's runs: duration, and memory during the load-time check.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backend/backends.h"

namespace backend {

/// Deadline and memory limit of a run, and which of them it exceeded.
struct RunBounds;

/// Limits the runs of this thread, and of threads that it forks, for the lifetime of this object:
/// check_run_limit() throws once the deadline has passed. Updates ComputeOptions::progress.
class RunLimit {
 public:
  /// `checked_file`: name of a file during its load-time check, in which the process may grow by at
  /// most 1 GiB plus `extra_memory` bytes; empty: no memory limit.
  explicit RunLimit(const ComputeOptions& compute, std::string checked_file = {},
                    size_t extra_memory = 0);
  ~RunLimit();
  RunLimit(const RunLimit&) = delete;
  RunLimit& operator=(const RunLimit&) = delete;

  /// Call it in the handler of a run's exception. Throws scheduler::RunTimeout if the deadline
  /// caused it, LoadError if the memory limit did.
  void throw_if_reached() const;

 private:
  std::shared_ptr<LoadProgress> progress_;
  std::string checked_file_;
  std::chrono::milliseconds run_limit_;
  size_t max_memory_;
  std::shared_ptr<RunBounds> bounds_;
  c10::DebugInfoGuard guard_;
};

/// Replaces LibTorch's allocator by one that checks the memory limit. Call it before a model runs.
void install_limited_allocator();

/// Throws if the calling thread's run exceeds its deadline or memory. Called between operators.
void check_run_limit();

/// Throws during a load-time check if a list or string grows to an excessive length.
void check_length(int64_t length);

}  // namespace backend
