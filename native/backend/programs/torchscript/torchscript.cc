#include "programs/torchscript/torchscript.h"

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

#include "common/error.h"
#include "programs/report.h"
#include "programs/run_limit.h"
#include "programs/torchscript/archive.h"
#include "programs/torchscript/code_guard.h"
#include "programs/torchscript/frozen_view.h"
#include "programs/torchscript/operators.h"
#include "runtime/runtime.h"

namespace backend {
namespace {

std::string name_of(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// Memory for loading, relative to the file size: the tensors, copies from freezing (folded
/// convolutions), packed copies.
constexpr size_t kWeightCopies = 3;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Call it in the handler of an exception of freezing. Returns the reason if LibTorch cannot freeze
/// the module; rethrows other errors.
std::string freeze_error() {
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
  // GELU is not fused: results of TorchScript models stay bitwise identical.
  rewrite_frozen(graph, layers, /*fuses_gelu=*/false);
  torch::jit::EliminateDeadCode(graph.block());  // removes packed constants
  return frozen;
}

/// Validates and loads a file, in evaluation mode. Throws LoadError with the file name.
torch::jit::Module read_module(const std::string& path) {
  const std::string file = name_of(path);
  validate_archive(path);
  install_limited_allocator();
  torch::jit::setPrintHandler([](const std::string&) {});
  torch::jit::Module module = [&] {
    try {
      torch::jit::ExtraFilesMap no_files;
      return torch::jit::load(path, at::kCPU, no_files, /*load_debug_files=*/false);
    } catch (...) {
      throw common::LoadError(file + ": cannot be loaded: " + message_of_current_exception());
    }
  }();
  module.eval();
  if (!module.find_method("forward")) throw common::LoadError(file + ": has no method forward");
  return module;
}

/// True if forward() sets attributes of the module, for example a hidden state in `self.hidden`:
/// each run then needs its own copy() of the module.
bool has_state(const torch::jit::Module& module) {
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  return sets_attributes(*graph->block());
}

/// Arguments of forward() without a default.
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
  /// Validates and loads a file in evaluation mode and freezes it; if freezing is not possible,
  /// adds a warning. Throws LoadError with the file name, or scheduler::RunTimeout if freezing
  /// exceeds the run limit.
  TorchScriptProgram(const std::string& path, const ComputeOptions& compute) {
    load(path, compute);
    has_state_ = has_state(module_);
    inputs_ = inputs_of(module_);
  }

  std::string kind() const override { return "torchscript"; }
  const std::vector<ProgramInput>& inputs() const override { return inputs_; }
  /// Disables the optimizing executor, whose first runs are slow and which does not improve frozen
  /// graphs. The setting is thread-local in LibTorch.
  void prepare_thread() const override { torch::jit::setGraphExecutorOptimize(false); }
  std::vector<std::string> warnings() const override { return warnings_; }

  c10::IValue run(std::vector<c10::IValue> inputs) const override {
    // A copy shares the weights, and has its own attributes.
    const torch::jit::Module module = has_state_ ? module_.copy() : module_;
    // torch::jit::Module::forward() terminates the process if a small allocation fails:
    // Method::owner() creates a Module in a noexcept function (LibTorch 2.15).
    inputs.insert(inputs.begin(), module._ivalue());
    return module.type()->getMethod("forward")(std::move(inputs));
  }

 private:
  void load(const std::string& path, const ComputeOptions& compute) {
    const std::string file = name_of(path);
    // Required for inlining of the loaded functions.
    const torch::jit::GraphOptimizerEnabledGuard optimizer(true);
    module_ = read_module(path);
    require_allowed_operators(module_, file, compute.allowed_operators);
    functions_ = module_._ivalue()->compilation_unit();
    add_runtime_checks(*functions_);
    // Inlined here, because freezing inlines functions of a temporary copy, which the operators
    // would refer to.
    torch::jit::Inline(*module_.get_method("forward").graph());
    // Freezing runs code that depends on no input. If that exceeds a limit, LibTorch silently skips
    // the result.
    const RunLimit limit(compute, file, kWeightCopies * std::filesystem::file_size(path));
    try {
      module_ = frozen(module_);
    } catch (...) {
      limit.throw_if_reached();
      warnings_ = {file + ": " + freeze_error()};
    }
    limit.throw_if_reached();
  }

  /// Functions of the file. Operators of the frozen graph refer to them in error reports, without
  /// owning them.
  std::shared_ptr<torch::jit::CompilationUnit> functions_;
  torch::jit::Module module_;
  std::vector<std::string> warnings_;  ///< for the log, one line each
  bool has_state_ = false;
  std::vector<ProgramInput> inputs_;
};

}  // namespace

std::unique_ptr<Program> load_torchscript(const std::string& path, const ComputeOptions& compute) {
  if (compute.dtype != Dtype::kFloat32) {
    throw common::LoadError(name_of(path) +
                            ": a TorchScript model computes in its stored data types: "
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
