#include "programs/torchscript/operators.h"

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

#include "common/error.h"
#include "programs/allowed_operators.h"

namespace backend {
namespace {

using torch::jit::Block;
using torch::jit::Function;
using torch::jit::Node;
using torch::jit::Value;

/// Maximum nodes of forward() after inlining. Functions that call each other twice double the size
/// at each level. Large classifiers have some ten thousand nodes.
constexpr double kMaxNodes = 2e6;
constexpr size_t kMaxNesting = 400;

/// 1 GiB of float32: more than any constant size in models of texts or signals.
constexpr double kMaxElements = 1 << 28;

/// Size of a function after inlining.
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

/// Product of the constants in a list of sizes.
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

/// Elements of the tensor that a node creates, as far as they are constant.
double requested_elements(const Node& node) {
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

/// Name of the operator. Overloads that write to a caller's tensor (`out`) include the overload
/// name and are not allowed: they do not check the tensor's size.
std::string name_of(const Node& node) {
  const std::string name = node.kind().toQualString();
  const auto* schema = node.maybeSchema();
  const bool writes =
      schema != nullptr && std::ranges::any_of(schema->arguments(), &c10::Argument::is_out);
  return writes ? name + "." + schema->overload_name() : name;
}

/// True if the node creates a strided tensor. Operators of LibTorch crash for tensors of other
/// layouts.
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

/// Visits forward() and all functions reachable from it, each once.
class Inspection {
 public:
  Inspection(const torch::jit::Module& module, const std::set<std::string>& added_operators)
      : functions_(module._ivalue()->compilation_unit()), added_operators_(added_operators) {}

  InlinedSize visit(Function& function) {
    const auto [entry, is_new] = sizes_.try_emplace(&function);
    if (!is_new) return entry->second;
    auto* code = torch::jit::tryToGraphFunction(function);
    if (!code) {
      rejected_.insert(function.qualname().qualifiedName());
      return {};
    }
    const InlinedSize inlined = visit(*code->graph()->block(), false);
    return sizes_[&function] = inlined;
  }

  const std::map<std::string, size_t>& counts() const { return counts_; }
  const std::set<std::string>& rejected() const { return rejected_; }
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
    if (!is_allowed(name, added_operators_)) rejected_.insert(name);
    if (in_loop && node.kind() == c10::prim::Print && !added_operators_.contains(name)) {
      problems_.insert("prints in a loop");
    }
    if (node.kind() == c10::prim::CreateObject) {
      const auto type = node.output()->type()->cast<c10::ClassType>();
      const std::string made = type && type->name() ? type->name()->qualifiedName() : "an object";
      if (made.starts_with("__torch__.torch.classes")) problems_.insert("makes " + made);
    }
    if (!makes_dense_tensors(node))
      problems_.insert("makes a tensor that is not dense (" + name + ")");
    if (const double elements = requested_elements(node); elements > kMaxElements) {
      problems_.insert("creates a tensor of " +
                       std::to_string(static_cast<uint64_t>(std::min(elements, 1e19))) +
                       " numbers (" + name + ")");
    }
  }

  /// Functions that a node calls. A call through an interface can reach any function.
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
  const std::set<std::string>& added_operators_;
  std::unordered_map<Function*, InlinedSize> sizes_;
  std::map<std::string, size_t> counts_;
  std::set<std::string> rejected_;
  std::set<std::string> problems_;
  bool calls_interface_ = false;
};

}  // namespace

void require_allowed_operators(const torch::jit::Module& module, const std::string& file,
                               const std::set<std::string>& added_operators) {
  Inspection inspection(module, added_operators);
  const InlinedSize inlined = inspection.visit(module.get_method("forward").function());
  if (!inspection.rejected().empty()) {
    throw common::LoadError(file + ": forward() uses " + c10::Join(", ", inspection.rejected()) +
                            ", which is not on the allow-list. If you trust the file, set " +
                            "ALLOWED_OPERATORS=" + c10::Join(",", inspection.rejected()));
  }
  if (!inspection.problems().empty()) {
    throw common::LoadError(file + ": forward() " + c10::Join(", ", inspection.problems()));
  }
  if (inlined.nodes > kMaxNodes || inlined.nesting > kMaxNesting) {
    throw common::LoadError(
        file + ": forward() is too large or too deeply nested when the functions that " +
        "it calls are written into it");
  }
}

std::vector<OperatorReport> list_operators(const torch::jit::Module& module,
                                           const std::set<std::string>& added_operators) {
  Inspection inspection(module, added_operators);
  inspection.visit(module.get_method("forward").function());
  std::vector<OperatorReport> operators;
  for (const auto& [name, count] : inspection.counts()) {
    const bool is_rejected = inspection.rejected().contains(name);
    operators.push_back(
        {.name = name, .count = count, .problem = is_rejected ? "is not allowed" : ""});
  }
  return operators;
}

}  // namespace backend
