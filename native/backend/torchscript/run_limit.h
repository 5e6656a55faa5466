// How long one run of a TorchScript model may take, and how much memory its trial.
#pragma once

#include <c10/util/ThreadLocalDebugInfo.h>

#include <chrono>
#include <memory>
#include <string>

#include "backend/backends.h"

namespace torch::jit {
struct CompilationUnit;
}

namespace backend {

/// When a run is to end and how far the process may grow by then, and which of them it met.
struct RunBounds;

/// While it lives, loops of guarded code end when the time is up, in what this thread runs and
/// forks, and a load that waits for this run can see since when.
class RunLimit {
 public:
  /// `tried`: the name of a file whose model is being tried, which may not make the process grow by
  /// more than 1 GiB.
  explicit RunLimit(const ComputeOptions& compute, std::string tried = {});
  ~RunLimit();
  RunLimit(const RunLimit&) = delete;
  RunLimit& operator=(const RunLimit&) = delete;

  /// For the handler of what a run threw: throws engine::RunTimeout where it is the consequence of
  /// the time, LoadError where it is that of the memory.
  void throw_if_reached() const;

 private:
  std::shared_ptr<LoadProgress> progress_;
  std::string tried_;
  std::chrono::milliseconds run_limit_;
  std::shared_ptr<RunBounds> bounds_;
  c10::DebugInfoGuard guard_;
};

/// Makes LibTorch ask for the memory of tensors in a way that can be limited. Before a model runs.
void limit_tensors();

/// Puts a look at the limits into the body of every loop, and before lists and strings grow, of all
/// functions of a file. To be called before any of them runs. What the interpreter cannot be kept
/// from is one operator that takes for ever.
void guard_code(torch::jit::CompilationUnit& functions);

}  // namespace backend
