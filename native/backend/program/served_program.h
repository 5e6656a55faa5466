// A program as its backend runs it: tried first, and within limits always.
#pragma once

#include <c10/core/InferenceMode.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backends.h"
#include "products/numbers.h"
#include "program/program.h"
#include "program/run_limit.h"
#include "runtime/runtime.h"

namespace backend {

/// Any thread, once the trial is over.
class ServedProgram {
 public:
  /// `file`: its name.
  ServedProgram(std::unique_ptr<Program> program, std::string file, const ComputeOptions& compute)
      : program_(std::move(program)), file_(std::move(file)), compute_(compute) {
    program_->prepare_thread();
  }

  const std::string& file() const { return file_; }
  const std::vector<ProgramInput>& inputs() const { return program_->inputs(); }

  /// Of a program that gives so many numbers in a row of an answer.
  ModelReport report(size_t num_outputs) const {
    return {.kind = program_->kind(),
            .num_outputs = num_outputs,
            .multiplication = describe_layers(program_->linear()),
            .warnings = program_->warnings(),
            .trial = {}};
  }

  void prepare_thread() const {
    silence_warnings();
    program_->prepare_thread();
  }

  /// Its runs are held to less memory until now.
  void end_trial() { in_trial_ = false; }

  /// Calls work(), which calls run(), and returns what it returns. Throws engine::BackendError,
  /// engine::RunTimeout among them; in the trial LoadError too.
  template <class Work>
  auto limited(const Work& work) const {
    const RunLimit limit(compute_, in_trial_ ? file_ : "");
    set_intra_op_threads(compute_.threads_per_worker);
    try {
      const c10::InferenceMode inference_mode;
      return work();
    } catch (const engine::BackendError&) {
      throw;
    } catch (...) {
      limit.throw_if_reached();
      throw engine::BackendError(message_of_current_exception());
    }
  }

  /// Inside of limited().
  c10::IValue run(std::vector<c10::IValue> inputs) const {
    return program_->run(std::move(inputs));
  }

  /// The load error of a trial that took too long.
  LoadError too_slow_to_try() const { return LoadError(too_slow(file_, compute_.run_limit)); }

 private:
  std::unique_ptr<Program> program_;
  std::string file_;
  ComputeOptions compute_;
  bool in_trial_ = true;
};

}  // namespace backend
