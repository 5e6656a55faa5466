#include "torchscript_archive.h"

#include <c10/util/StringUtil.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

#include "backend/model_config.h"
#include "runtime.h"

namespace backend {
namespace {

struct Forbidden {
  std::string_view text;
  std::string_view meaning;
};

constexpr std::array kForbiddenCode{
    Forbidden{"def __setstate__", "a __setstate__ method, which would run while loading"},
    Forbidden{"__torch__.torch.classes.", "a C++ class (torch.classes)"},
};

/// Operators with effects outside the model: files and processes.
constexpr std::array<std::string_view, 4> kForbiddenOperators{"aten::from_file", "aten::save",
                                                              "aten::_save", "aten::load"};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::optional<std::string> problem_of(const torch::jit::Block& block) {
  for (const auto* node : block.nodes()) {
    std::string name = node->kind().toQualString();
    if (!starts_with(name, "aten::") && !starts_with(name, "prim::")) return name;
    for (const auto forbidden : kForbiddenOperators) {
      if (name == forbidden) return name;
    }
    for (const auto* inner : node->blocks()) {
      if (auto problem = problem_of(*inner)) return problem;
    }
    if (node->hasAttribute(c10::attr::Subgraph)) {  // of a fork
      if (auto problem = problem_of(*node->g(c10::attr::Subgraph)->block())) return problem;
    }
  }
  return std::nullopt;
}

/// Whether calls are left that inlining could not follow.
bool calls_methods(const torch::jit::Block& block) {
  for (const auto* node : block.nodes()) {
    if (node->kind() == c10::prim::CallMethod) return true;
    for (const auto* inner : node->blocks()) {
      if (calls_methods(*inner)) return true;
    }
    if (node->hasAttribute(c10::attr::Subgraph) &&
        calls_methods(*node->g(c10::attr::Subgraph)->block())) {
      return true;
    }
  }
  return false;
}

}  // namespace

void require_harmless_archive(const std::string& path) {
  const std::string file = std::filesystem::path(path).filename().string();
  try {
    caffe2::serialize::PyTorchStreamReader reader(path);
    bool has_code = false;
    for (const std::string& record : reader.getAllRecords()) {
      const bool code = starts_with(record, "code/");
      has_code = has_code || code;
      if (!code && !record.ends_with(".pkl")) continue;
      const auto [data, size] = reader.getRecord(record);
      const std::string_view text(static_cast<const char*>(data.get()), size);
      for (const auto& forbidden : kForbiddenCode) {
        if (text.find(forbidden.text) == std::string_view::npos) continue;
        throw LoadError(c10::str(file, ": ", record, ": contains ", forbidden.meaning,
                                 "; a classifier has no use for it, and it is not loaded"));
      }
    }
    if (!has_code) {
      throw LoadError(file + ": is a PyTorch archive without code: save the model with " +
                      "torch.jit.script(model).save(...), not its state_dict");
    }
  } catch (const LoadError&) {
    throw;
  } catch (...) {
    throw LoadError(file + ": is no TorchScript file: " + message_of_current_exception());
  }
}

void require_harmless_operators(const torch::jit::Module& module, const std::string& file) {
  const auto require = [&file](torch::jit::Graph& code) {
    const auto graph = code.copy();
    torch::jit::Inline(*graph);
    if (const auto problem = problem_of(*graph->block())) {
      throw LoadError(file + ": forward() uses " + *problem +
                      ", which a classifier has no use for");
    }
    return calls_methods(*graph->block());
  };
  if (!require(*module.get_method("forward").graph())) return;
  // Through an interface: which method it is shows only when it runs.
  for (auto* function : module._ivalue()->compilation_unit()->get_functions()) {
    if (auto* code = torch::jit::tryToGraphFunction(*function)) require(*code->graph());
  }
}

}  // namespace backend
