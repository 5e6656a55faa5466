#include "programs/torchscript/code_guard.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "programs/preconditions.h"
#include "programs/run_limit.h"
#include "scheduler/backend.h"

namespace backend {
namespace {

using torch::jit::Node;
using torch::jit::Operator;
using torch::jit::Stack;

constexpr const char* kCheckLimits = "libtorch_serve::check_limits";
constexpr const char* kCheckGrowth = "libtorch_serve::check_growing_value";
constexpr const char* kCheckRepetition = "libtorch_serve::check_repetition";

// ---- Limits of a run ----

int64_t length_of(const c10::IValue& value) {
  if (value.isString()) return static_cast<int64_t>(value.toStringRef().size());
  return value.isList() ? static_cast<int64_t>(value.toListRef().size()) : 1;
}

/// (list or string) → the same value
void check_growing_value(Stack& stack) {
  check_run_limit();
  check_length(length_of(stack.back()));
}

/// (list or string, times) → times
void check_repetition(Stack& stack) {
  check_run_limit();
  const int64_t times = std::max<int64_t>(stack.back().toInt(), 0);
  const int64_t length = length_of(stack[stack.size() - 2]);
  int64_t all = 0;
  const bool overflows = __builtin_mul_overflow(length, times, &all);
  check_length(overflows ? std::numeric_limits<int64_t>::max() : all);
  stack.erase(stack.end() - 2);
}

/// Registers the operators of the checks. CONSERVATIVE declares side effects: compiler passes do
/// not remove the checks or evaluate code behind them early.
void register_checks() {
  constexpr auto kConservative = c10::AliasAnalysisKind::CONSERVATIVE;
  static const torch::jit::RegisterOperators registered({
      Operator(
          std::string(kCheckLimits) + "() -> ()", [](Stack&) { check_run_limit(); }, kConservative),
      Operator(std::string(kCheckGrowth) + "(Any value) -> Any", check_growing_value,
               kConservative),
      Operator(std::string(kCheckRepetition) + "(Any value, int times) -> int", check_repetition,
               kConservative),
  });
}

/// Operators that can return a larger list or string than their arguments.
bool grows(const Node& node) {
  constexpr std::array kGrowing{"aten::append",  "aten::add",          "aten::add_",
                                "aten::extend",  "aten::format",       "aten::join",
                                "aten::replace", "aten::percentFormat"};
  return std::ranges::find(kGrowing, std::string_view(node.kind().toQualString())) !=
         kGrowing.end();
}

bool is_list_or_string(const torch::jit::Value& value) {
  const auto kind = value.type()->kind();
  return kind == c10::TypeKind::ListType || kind == c10::TypeKind::StringType;
}

/// Inserts `check` before `node`, and uses its result as the node's input.
void insert_check(Node& node, size_t input, const char* check,
                  at::ArrayRef<torch::jit::Value*> arguments) {
  auto* guard = node.owningGraph()->create(c10::Symbol::fromQualString(check), arguments, 1);
  guard->output()->setType(node.input(input)->type());
  guard->insertBefore(&node);
  node.replaceInput(input, guard->output());
}

void check_growth(Node& node) {
  if (node.inputs().empty() || node.outputs().empty()) return;
  if (grows(node) && (is_list_or_string(*node.output()) || is_list_or_string(*node.input(0)))) {
    insert_check(node, 0, kCheckGrowth, {node.input(0)});
  }
  const bool repeats = node.kind() == c10::aten::mul || node.kind() == c10::aten::mul_;
  if (!repeats || !is_list_or_string(*node.output())) return;
  const size_t times = is_list_or_string(*node.input(0)) ? 1 : 0;
  insert_check(node, times, kCheckRepetition, {node.input(1 - times), node.input(times)});
}

// ---- Operators with preconditions ----

std::string checked_name(std::string_view name) {
  return "libtorch_serve::" + std::string(name.substr(std::string_view("aten::").size()));
}

/// Returns the operator under another name, with its precondition.
Operator checked(const Operator& op, Precondition precondition) {
  const c10::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  torch::jit::Operation check_and_run(
      [=, name = schema.name(), run = op.getOperation()](Stack& stack) mutable {
        try {
          precondition(torch::jit::last(stack, count));
        } catch (const scheduler::BackendError& error) {
          throw scheduler::BackendError(name + ": " + error.what());
        }
        run(stack);
      });
  return {checked_name(schema.name()), schema.overload_name(),
          schema.arguments(),          schema.returns(),
          std::move(check_and_run),    c10::AliasAnalysisKind::FROM_SCHEMA};
}

/// Registers a checked operator once. LibTorch keeps it until the process exits.
void register_checked(const Operator& op, Precondition precondition) {
  static std::mutex mutex;
  static std::set<std::string> registered;
  const c10::FunctionSchema& schema = op.schema();
  const std::lock_guard lock(mutex);
  if (!registered.insert(schema.name() + "." + schema.overload_name()).second) return;
  torch::jit::registerOperator(checked(op, precondition));
}

/// Replaces an operator that has a precondition by its checked version. Returns false if it has
/// none.
bool check_arguments(Node& node) {
  const Precondition precondition = precondition_of(node.kind().toQualString());
  const Operator* op = precondition == nullptr ? nullptr : node.maybeOperator();
  if (op == nullptr) return false;
  register_checked(*op, precondition);
  node.replaceWithNewSymbol(c10::Symbol::fromQualString(checked_name(op->schema().name())));
  return true;
}

// ---- Uninitialized tensors ----

/// Zero-initializing equivalent. aten::zeros has the arguments of aten::empty except the last one,
/// memory_format.
std::optional<c10::Symbol> zeroed(const Node& node) {
  if (node.kind() == c10::aten::empty) return c10::aten::zeros;
  if (node.kind() == c10::aten::empty_like) return c10::aten::zeros_like;
  if (node.kind() == c10::aten::new_empty) return c10::aten::new_zeros;
  return std::nullopt;
}

/// Replaces the creation of an uninitialized tensor. Returns false for other nodes.
bool zero(Node& node) {
  const auto zeros = zeroed(node);
  if (!zeros) return false;
  const size_t inputs = node.inputs().size() - (*zeros == c10::aten::zeros ? 1 : 0);
  Node* made = node.owningGraph()->create(*zeros, node.inputs().slice(0, inputs), 1);
  made->copyMetadata(&node);
  made->output()->copyMetadata(node.output());
  made->insertBefore(&node);
  node.output()->replaceAllUsesWith(made->output());
  return true;
}

void add_checks(torch::jit::Block& block) {
  for (auto it = block.nodes().begin(); it != block.nodes().end(); ++it) {
    for (auto* inner : it->blocks()) add_checks(*inner);
    if (it->hasAttribute(c10::attr::Subgraph)) {
      add_checks(*it->g(c10::attr::Subgraph)->block());
    }
    check_growth(**it);
    if (it->kind() == c10::prim::Loop) {
      auto* check = block.owningGraph()->create(c10::Symbol::fromQualString(kCheckLimits), 0);
      it->blocks().front()->prependNode(check);
    }
    if (zero(**it) || check_arguments(**it)) it.destroyCurrent();
  }
}

}  // namespace

void add_runtime_checks(torch::jit::CompilationUnit& functions) {
  register_checks();
  for (auto* function : functions.get_functions()) {
    if (auto* code = torch::jit::tryToGraphFunction(*function)) {
      add_checks(*code->graph()->block());
    }
  }
}

}  // namespace backend
