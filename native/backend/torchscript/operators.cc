#include "torchscript/operators.h"

#include <ATen/core/interned_strings.h>
#include <c10/util/StringUtil.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "backend/model_config.h"
#include "program/allowed_operators.h"

namespace backend {
namespace {

using torch::jit::Block;
using torch::jit::Function;
using torch::jit::Node;
using torch::jit::Value;

/// Of the code of forward() when all that it calls is written into it: functions that call each
/// other twice double at every step. The largest classifiers have some ten thousand nodes.
constexpr double kMaxNodes = 2e6;
constexpr size_t kMaxNesting = 400;

/// 1 GiB of float32: a constant size beyond it is in no model that takes a text or a signal.
constexpr double kMaxElements = 1 << 28;

/// What a function grows to when it is inlined.
struct InlinedSize {
  double nodes = 0;
  size_t nesting = 0;
};

std::optional<double> constant_number(const Value* value) {
  const auto constant = torch::jit::toIValue(value);
  if (constant && constant->isInt()) return static_cast<double>(constant->toInt());
  if (constant && constant->isDouble()) return constant->toDouble();
  return std::nullopt;
}

/// The product of a list of sizes, of those that are constants.
double constant_product(const Value* sizes) {
  double product = 1;
  if (const auto constant = torch::jit::toIValue(sizes); constant && constant->isIntList()) {
    for (const int64_t size : constant->toIntVector()) product *= static_cast<double>(size);
  } else if (sizes->node()->kind() == c10::prim::ListConstruct) {
    for (const Value* size : sizes->node()->inputs()) {
      product *= constant_number(size).value_or(1.0);
    }
  }
  return product;
}

/// How many elements a node asks for that makes a tensor, as far as the code says it.
double elements_asked_for(const Node& node) {
  const std::string_view name = node.kind().toUnqualString();
  const auto* schema = node.maybeSchema();
  if (!schema || !node.kind().is_aten()) return 0;
  const bool views =
      name.starts_with("view") || name.starts_with("expand") || name.starts_with("broadcast");
  double most = 0;
  for (size_t i = 0; i < std::min(node.inputs().size(), schema->arguments().size()); ++i) {
    const std::string& argument = schema->arguments()[i].name();
    const bool shapes = (argument == "size" && !views) || argument == "output_size" ||
                        argument == "repeats" || argument == "dims";
    const bool counts =
        (name == "arange" && argument == "end") || argument == "steps" ||
        argument == "window_length" ||
        ((name == "eye" || name == "randperm") && (argument == "n" || argument == "m"));
    if (shapes) most = std::max(most, constant_product(node.input(i)));
    if (counts) most = std::max(most, constant_number(node.input(i)).value_or(0.0));
  }
  if (name == "eye") most *= most;
  return most;
}

/// With the overload where results are written into tensors of the caller, whatever their sizes: no
/// classifier needs that, and each of these would have to be looked at for itself.
std::string name_of(const Node& node) {
  const std::string name = node.kind().toQualString();
  const auto* schema = node.maybeSchema();
  const bool writes =
      schema != nullptr && std::ranges::any_of(schema->arguments(), &c10::Argument::is_out);
  return writes ? name + "." + schema->overload_name() : name;
}

/// Operators of LibTorch end the process for tensors of other layouts.
bool makes_dense_tensors(const Node& node) {
  const auto* schema = node.maybeSchema();
  if (schema == nullptr) return true;
  for (size_t i = 0; i < std::min(node.inputs().size(), schema->arguments().size()); ++i) {
    if (schema->arguments()[i].name() != "layout") continue;
    const auto layout = torch::jit::toIValue(node.input(i));
    const bool is_same_as_of_tensor = node.input(i)->node()->kind() == c10::prim::layout;
    if (!layout && !is_same_as_of_tensor) return false;
    if (layout && layout->isInt() && layout->toLayout() != c10::kStrided) return false;
  }
  return true;
}

/// Goes through forward() and what can be reached from it, each function once.
class Inspection {
 public:
  Inspection(const torch::jit::Module& module, const std::set<std::string>& added)
      : functions_(module._ivalue()->compilation_unit()), added_(added) {}

  InlinedSize visit(Function& function) {
    const auto [entry, is_new] = sizes_.try_emplace(&function);
    if (!is_new) return entry->second;
    auto* code = torch::jit::tryToGraphFunction(function);
    if (!code) {
      refused_.insert(function.qualname().qualifiedName());
      return {};
    }
    const InlinedSize inlined = visit(*code->graph()->block(), false);
    return sizes_[&function] = inlined;
  }

  const std::map<std::string, size_t>& counts() const { return counts_; }
  const std::set<std::string>& refused() const { return refused_; }
  const std::set<std::string>& problems() const { return problems_; }

 private:
  InlinedSize visit(const Block& block, bool in_loop) {
    InlinedSize inlined;
    for (const Node* node : block.nodes()) {
      inspect(*node, in_loop);
      const bool loops = in_loop || node->kind() == c10::prim::Loop;
      add(inlined, {.nodes = 1, .nesting = 0});
      for (const Block* inner : node->blocks()) add(inlined, visit(*inner, loops));
      if (node->hasAttribute(c10::attr::Subgraph)) {
        add(inlined, visit(*node->g(c10::attr::Subgraph)->block(), loops));
      }
      for (Function* function : callees(*node)) add(inlined, visit(*function));
    }
    return {.nodes = inlined.nodes, .nesting = inlined.nesting + 1};
  }

  static void add(InlinedSize& inlined, const InlinedSize& more) {
    inlined.nodes += more.nodes;
    inlined.nesting = std::max(inlined.nesting, more.nesting);
  }

  void inspect(const Node& node, bool in_loop) {
    const std::string name = name_of(node);
    ++counts_[name];
    if (!is_allowed(name, added_)) refused_.insert(name);
    if (in_loop && node.kind() == c10::prim::Print && !added_.contains(name)) {
      problems_.insert("prints in a loop");
    }
    if (node.kind() == c10::prim::CreateObject) {
      const auto type = node.output()->type()->cast<c10::ClassType>();
      const std::string made = type && type->name() ? type->name()->qualifiedName() : "an object";
      if (made.starts_with("__torch__.torch.classes")) problems_.insert("makes " + made);
    }
    if (!makes_dense_tensors(node))
      problems_.insert("makes a tensor that is not dense (" + name + ")");
    if (const double elements = elements_asked_for(node); elements > kMaxElements) {
      problems_.insert("asks for a tensor of " +
                       std::to_string(static_cast<uint64_t>(std::min(elements, 1e19))) +
                       " numbers (" + name + ")");
    }
  }

  /// The functions that a node calls. Which one a call through an interface means shows only when
  /// it runs: it may be any of them.
  std::vector<Function*> callees(const Node& node) {
    if (node.kind() == c10::prim::CallFunction) {
      return {node.input(0)->type()->expect<c10::FunctionType>()->function()};
    }
    if (node.kind() != c10::prim::CallMethod) return {};
    if (const auto type = node.input(0)->type()->cast<c10::ClassType>()) {
      if (auto* method = type->findMethod(node.s(c10::attr::name))) return {method};
      return {};
    }
    if (calls_interface_) return {};
    calls_interface_ = true;
    for (Function* function : functions_->get_functions()) visit(*function);
    return {};
  }

  std::shared_ptr<torch::jit::CompilationUnit> functions_;
  const std::set<std::string>& added_;
  std::unordered_map<Function*, InlinedSize> sizes_;
  std::map<std::string, size_t> counts_;
  std::set<std::string> refused_;
  std::set<std::string> problems_;
  bool calls_interface_ = false;
};

}  // namespace

void require_allowed_operators(const torch::jit::Module& module, const std::string& file,
                               const std::set<std::string>& added) {
  Inspection inspection(module, added);
  const InlinedSize inlined = inspection.visit(module.get_method("forward").function());
  if (!inspection.refused().empty()) {
    throw LoadError(file + ": forward() uses " + c10::Join(", ", inspection.refused()) +
                    ", which classifiers have no use for; if you trust the file, set " +
                    "ALLOWED_OPERATORS=" + c10::Join(",", inspection.refused()));
  }
  if (!inspection.problems().empty()) {
    throw LoadError(file + ": forward() " + c10::Join(", ", inspection.problems()) +
                    "; it is not loaded");
  }
  if (inlined.nodes > kMaxNodes || inlined.nesting > kMaxNesting) {
    throw LoadError(file +
                    ": forward() is too large or too deeply nested when the functions that " +
                    "it calls are written into it");
  }
}

std::vector<OperatorReport> list_operators(const torch::jit::Module& module,
                                           const std::set<std::string>& added) {
  Inspection inspection(module, added);
  inspection.visit(module.get_method("forward").function());
  std::vector<OperatorReport> operators;
  for (const auto& [name, count] : inspection.counts()) {
    const bool is_refused = inspection.refused().contains(name);
    operators.push_back(
        {.name = name, .count = count, .problem = is_refused ? "is not allowed" : ""});
  }
  return operators;
}

}  // namespace backend
