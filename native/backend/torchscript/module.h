// A TorchScript file made ready to run.
#pragma once

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/backends.h"

namespace backend {

struct TorchScriptModule {
  /// Of the file, without its weights. The operators of a frozen graph point to the functions that
  /// they came from, for error reports, and own none: these live longer than the module.
  std::shared_ptr<torch::jit::CompilationUnit> functions;
  torch::jit::Module module;
  std::vector<std::string> warnings;  ///< for the log, a line each
};

/// Looked at before any of its code can run, and read, in evaluation mode. Throws LoadError naming
/// the file.
torch::jit::Module read_torchscript_module(const std::string& path);

/// Looked at before any of its code can run, loaded for the processor, in evaluation mode, frozen
/// where LibTorch can do so, else with a warning. Its runs keep within a RunLimit. Throws LoadError
/// naming the file, or engine::RunTimeout where freezing took too long.
TorchScriptModule load_torchscript_module(const std::string& path, const ComputeOptions& compute);

/// Before a thread runs a model: a frozen graph gains nothing from the optimizing executor, whose
/// first runs take long. LibTorch keeps the setting for each thread.
void set_up_torchscript_thread();

/// Whether forward() sets attributes of the module, as a recurrent model does that keeps its hidden
/// state in `self.hidden`: such a run needs a copy() of the module to itself.
bool keeps_state(const torch::jit::Module& module);

/// What the model's forward() returns for these inputs.
///
/// torch::jit::Module::forward() would do, but ends the process where a few bytes cannot be had for
/// it: Method::owner() makes a Module behind noexcept (LibTorch 2.15).
c10::IValue run_forward(const torch::jit::Module& module, std::vector<c10::IValue> inputs);

}  // namespace backend
