#include "torchscript/module.h"

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
#include "program/rewrite/rewrite.h"
#include "program/run_limit.h"
#include "runtime/runtime.h"
#include "torchscript/archive.h"
#include "torchscript/code_guard.h"
#include "torchscript/frozen_view.h"
#include "torchscript/operators.h"

namespace backend {
namespace {

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

/// GELU stays LibTorch's own, as scripts have been answered by it.
void rewrite_frozen(torch::jit::Graph& graph) {
  FrozenView view(graph);
  PackedLayers layers(Dtype::kFloat32);
  rewrite(view, layers, false);
  torch::jit::EliminateDeadCode(graph.block());  // constants that were packed
}

}  // namespace

void set_up_torchscript_thread() { torch::jit::setGraphExecutorOptimize(false); }

torch::jit::Module read_torchscript_module(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
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

TorchScriptModule load_torchscript_module(const std::string& path, const ComputeOptions& compute) {
  const std::string file = std::filesystem::path(path).filename().string();
  // Without it, what is loaded is not made ready to be inlined.
  const torch::jit::GraphOptimizerEnabledGuard optimizer(true);
  torch::jit::Module module = read_torchscript_module(path);
  require_allowed_operators(module, file, compute.allowed_operators);
  guard_code(*module._ivalue()->compilation_unit());
  // Freezing would inline functions of a copy that is gone afterwards: inlined here, the operators
  // point to functions of this one.
  torch::jit::Inline(*module.get_method("forward").graph());
  auto functions = module._ivalue()->compilation_unit();
  // Freezing runs what depends on no input. Where that meets a limit, LibTorch goes on without its
  // result, and says nothing.
  const RunLimit limit(compute, file, kOfWeights * std::filesystem::file_size(path));
  TorchScriptModule loaded;
  try {
    torch::jit::Module frozen = torch::jit::freeze(module);
    rewrite_frozen(*frozen.get_method("forward").graph());
    loaded = {.functions = std::move(functions), .module = std::move(frozen), .warnings = {}};
  } catch (...) {
    limit.throw_if_reached();
    loaded = {.functions = {},
              .module = std::move(module),
              .warnings = {file + ": " + reason_not_to_freeze()}};
  }
  limit.throw_if_reached();
  return loaded;
}

bool keeps_state(const torch::jit::Module& module) {
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  return sets_attributes(*graph->block());
}

c10::IValue run_forward(const torch::jit::Module& module, std::vector<c10::IValue> inputs) {
  inputs.insert(inputs.begin(), module._ivalue());
  return module.type()->getMethod("forward")(std::move(inputs));
}

}  // namespace backend
