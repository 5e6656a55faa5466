#include "torchscript/torchscript.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/error_report.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/jit/serialization/import.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "backend/model_config.h"
#include "program/report.h"
#include "program/run_limit.h"
#include "runtime/runtime.h"
#include "torchscript/archive.h"
#include "torchscript/code_guard.h"
#include "torchscript/frozen_view.h"
#include "torchscript/operators.h"

namespace backend {
namespace {

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// Beside the file's own tensors freezing makes new weights (convolutions with their
/// normalization), and packing lays them out once more.
constexpr size_t kOfWeights = 3;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// For the handler of what freezing threw: LibTorch's errors for scripts that it cannot freeze.
/// Throws anything else again.
std::string reason_not_to_freeze() {
  const std::string reason = message_of_current_exception();
  try {
    throw;
  } catch (const c10::Error&) {
    if (reason == kOutOfMemory) throw;
  } catch (const torch::jit::ErrorReport&) {
  }
  return "cannot be frozen, so that it runs as it was saved, more slowly: " + first_line(reason);
}

bool sets_attributes(const torch::jit::Block& block) {
  for (const auto* node : block.nodes()) {
    if (node->kind() == c10::prim::SetAttr) return true;
    for (const auto* inner : node->blocks()) {
      if (sets_attributes(*inner)) return true;
    }
  }
  return false;
}

torch::jit::Module frozen(const torch::jit::Module& module) {
  torch::jit::Module frozen = torch::jit::freeze(module);
  torch::jit::Graph& graph = *frozen.get_method("forward").graph();
  PackedLinears layers(Dtype::kFloat32);
  // GELU stays LibTorch's own, as scripts have been answered by it.
  rewrite_frozen(graph, layers, /*fuses_gelu=*/false);
  torch::jit::EliminateDeadCode(graph.block());  // constants that were packed
  return frozen;
}

/// Looked at before any of its code can run, and read, in evaluation mode. Throws LoadError naming
/// the file.
torch::jit::Module read_module(const std::string& path) {
  const std::string file = name_of(path);
  require_harmless_archive(path);
  limit_tensors();
  torch::jit::setPrintHandler([](const std::string&) {});
  torch::jit::Module module = [&] {
    try {
      torch::jit::ExtraFilesMap no_files;
      return torch::jit::load(path, at::kCPU, no_files, /*load_debug_files=*/false);
    } catch (...) {
      throw LoadError(file + ": cannot be loaded: " + message_of_current_exception());
    }
  }();
  module.eval();
  if (!module.find_method("forward")) throw LoadError(file + ": has no method forward");
  return module;
}

/// Whether forward() sets attributes of the module, as a recurrent model does that keeps its hidden
/// state in `self.hidden`: such a run needs a copy() of the module to itself.
bool keeps_state(const torch::jit::Module& module) {
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  return sets_attributes(*graph->block());
}

/// Those of forward() that have no default.
std::vector<ProgramInput> inputs_of(const torch::jit::Module& module) {
  std::vector<ProgramInput> inputs;
  for (const auto& argument : module.get_method("forward").function().getSchema().arguments()) {
    if (!argument.default_value()) {
      inputs.push_back({.name = argument.name(), .type = {}, .sizes = {}});
    }
  }
  inputs.erase(inputs.begin());  // self
  return inputs;
}

class TorchScriptProgram final : public Program {
 public:
  /// Looked at before any of its code can run, loaded for the processor, in evaluation mode, frozen
  /// where LibTorch can do so, else with a warning. Its runs keep within a RunLimit. Throws
  /// LoadError naming the file, or scheduler::RunTimeout where freezing took too long.
  TorchScriptProgram(const std::string& path, const ComputeOptions& compute) {
    load(path, compute);
    keeps_state_ = keeps_state(module_);
    inputs_ = inputs_of(module_);
  }

  std::string kind() const override { return "torchscript"; }
  const std::vector<ProgramInput>& inputs() const override { return inputs_; }
  /// A frozen graph gains nothing from the optimizing executor, whose first runs take long.
  /// LibTorch keeps the setting for each thread.
  void prepare_thread() const override { torch::jit::setGraphExecutorOptimize(false); }
  std::vector<std::string> warnings() const override { return warnings_; }

  c10::IValue run(std::vector<c10::IValue> inputs) const override {
    // A copy shares the weights and has attributes of its own: no run sees the state of another.
    const torch::jit::Module module = keeps_state_ ? module_.copy() : module_;
    // torch::jit::Module::forward() would do, but ends the process where a few bytes cannot be had
    // for it: Method::owner() makes a Module behind noexcept (LibTorch 2.15).
    inputs.insert(inputs.begin(), module._ivalue());
    return module.type()->getMethod("forward")(std::move(inputs));
  }

 private:
  void load(const std::string& path, const ComputeOptions& compute) {
    const std::string file = name_of(path);
    // Without it, what is loaded is not made ready to be inlined.
    const torch::jit::GraphOptimizerEnabledGuard optimizer(true);
    module_ = read_module(path);
    require_allowed_operators(module_, file, compute.allowed_operators);
    functions_ = module_._ivalue()->compilation_unit();
    guard_code(*functions_);
    // Freezing would inline functions of a copy that is gone afterwards: inlined here, the
    // operators point to functions of this one.
    torch::jit::Inline(*module_.get_method("forward").graph());
    // Freezing runs what depends on no input. Where that meets a limit, LibTorch goes on without
    // its result, and says nothing.
    const RunLimit limit(compute, file, kOfWeights * std::filesystem::file_size(path));
    try {
      module_ = frozen(module_);
    } catch (...) {
      limit.throw_if_reached();
      warnings_ = {file + ": " + reason_not_to_freeze()};
    }
    limit.throw_if_reached();
  }

  /// Of the file, without its weights. The operators of a frozen graph point to the functions that
  /// they came from, for error reports, and own none: these live longer than the module.
  std::shared_ptr<torch::jit::CompilationUnit> functions_;
  torch::jit::Module module_;
  std::vector<std::string> warnings_;  ///< for the log, a line each
  bool keeps_state_ = false;
  std::vector<ProgramInput> inputs_;
};

}  // namespace

std::unique_ptr<Program> load_torchscript(const std::string& path, const ComputeOptions& compute) {
  if (compute.dtype != Dtype::kFloat32) {
    throw LoadError(name_of(path) +
                    ": a TorchScript model computes in the numbers it was saved with: "
                    "DTYPE must be float32");
  }
  return std::make_unique<TorchScriptProgram>(path, compute);
}

ProgramReport inspect_torchscript(const std::string& path,
                                  const std::set<std::string>& allowed_operators) {
  const torch::jit::Module module = read_module(path);
  ProgramReport report;
  report.kind = "torchscript";
  for (const ProgramInput& input : inputs_of(module)) report.inputs.push_back(described(input));
  WeightCount weights;
  for (const at::Tensor& tensor : module.parameters()) weights.add(tensor);
  for (const at::Tensor& tensor : module.buffers()) weights.add(tensor);
  weights.write_to(report);
  report.operators = list_operators(module, allowed_operators);
  return report;
}

}  // namespace backend
