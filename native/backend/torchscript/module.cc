#include "torchscript/module.h"

#include <c10/util/Exception.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/print_handler.h>
#include <torch/csrc/jit/serialization/import.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "backend/model_config.h"
#include "runtime/runtime.h"
#include "torchscript/archive.h"
#include "torchscript/operators.h"
#include "torchscript/run_limit.h"

namespace backend {
namespace {

/// A tensor of an output, and the key or index that leads to it: `logits`, `1.0`.
using Found = std::pair<std::string, at::Tensor>;

void collect(const c10::IValue& value, const std::string& place, std::vector<Found>& found) {
  const auto inside = [&place](const std::string& key) {
    return place.empty() ? key : place + "." + key;
  };
  if (value.isTensor()) {
    found.emplace_back(place, value.toTensor());
  } else if (value.isTuple()) {
    const auto& elements = value.toTupleRef().elements();
    for (size_t i = 0; i < elements.size(); ++i) {
      collect(elements[i], inside(std::to_string(i)), found);
    }
  } else if (value.isList()) {
    const auto elements = value.toListRef();
    for (size_t i = 0; i < elements.size(); ++i) {
      collect(elements[i], inside(std::to_string(i)), found);
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      const std::string key =
          entry.key().isString() ? entry.key().toStringRef() : entry.key().tagKind();
      collect(entry.value(), inside(key), found);
    }
  }
}

std::string kind_of(const c10::IValue& output) {
  if (output.isTuple()) return "a tuple";
  if (output.isList()) return "a list";
  if (output.isGenericDict()) return "a dict";
  if (output.isNone()) return "None";
  return "a value of type " + output.tagKind();
}

std::string shape_of(const at::Tensor& tensor) {
  std::string text;
  for (const int64_t size : tensor.sizes()) {
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  return "[" + text + "]";
}

std::string described(const c10::IValue& output, const std::vector<Found>& found) {
  constexpr size_t kShown = 8;
  if (found.empty()) return kind_of(output) + " without a tensor";
  std::string text = kind_of(output) + " with " + std::to_string(found.size()) + " tensors (";
  for (size_t i = 0; i < found.size() && i < kShown; ++i) {
    text += (i > 0 ? ", " : "") + found[i].first + ": " + shape_of(found[i].second);
  }
  return text + (found.size() > kShown ? ", …)" : ")");
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

void silence_this_thread() {
  class Silence final : public c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };
  static Silence silence;
  c10::WarningUtils::set_warning_handler(&silence);
}

}  // namespace

void set_up_torchscript_thread() {
  silence_this_thread();
  torch::jit::setGraphExecutorOptimize(false);
}

TorchScriptModule load_torchscript_module(const std::string& path, const ComputeOptions& compute) {
  const std::string file = std::filesystem::path(path).filename().string();
  require_harmless_archive(path);
  limit_tensors();
  silence_this_thread();
  // Without it, what is loaded is not made ready to be inlined.
  const torch::jit::GraphOptimizerEnabledGuard optimizer(true);
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
  require_allowed_operators(module, file, compute.allowed_operators);
  zero_empty_tensors(*module._ivalue()->compilation_unit());
  guard_code(*module._ivalue()->compilation_unit());
  // Freezing would inline functions of a copy that is gone afterwards: inlined here, the operators
  // point to functions of this one.
  torch::jit::Inline(*module.get_method("forward").graph());
  auto functions = module._ivalue()->compilation_unit();
  const RunLimit limit(compute, file);  // freezing runs what depends on no input
  try {
    return {.functions = std::move(functions), .module = torch::jit::freeze(module)};
  } catch (...) {
    return {.functions = {},
            .module = std::move(
                module)};  // some scripts cannot be frozen: they run as they are, only slower
  }
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

at::Tensor single_tensor(const c10::IValue& output) {
  std::vector<Found> found;
  collect(output, "", found);
  if (found.size() == 1) return found.front().second;
  throw OutputError("the model returns " + described(output, found) +
                    ", expected one tensor, by itself or alone in a tuple, a list or a dict");
}

}  // namespace backend
