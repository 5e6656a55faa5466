#include "torchscript/code_guard.h"

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

#include "scheduler/backend.h"
#include "program/preconditions.h"
#include "program/run_limit.h"

namespace backend {
namespace {

using torch::jit::Node;
using torch::jit::Operator;
using torch::jit::Stack;

constexpr const char* kCheck = "libtorch_serve::check_limits";
constexpr const char* kPass = "libtorch_serve::pass_if_short";
constexpr const char* kRepeat = "libtorch_serve::pass_if_few";

// ---- Limits of a run ----

int64_t length_of(const c10::IValue& value) {
  if (value.isString()) return static_cast<int64_t>(value.toStringRef().size());
  return value.isList() ? static_cast<int64_t>(value.toListRef().size()) : 1;
}

/// (list or string) → the same
void pass_if_short(Stack& stack) {
  check_run_limit();
  check_length(length_of(stack.back()));
}

/// (list or string, times) → times
void pass_if_few(Stack& stack) {
  check_run_limit();
  const int64_t times = std::max<int64_t>(stack.back().toInt(), 0);
  const int64_t length = length_of(stack[stack.size() - 2]);
  int64_t all = 0;
  const bool overflows = __builtin_mul_overflow(length, times, &all);
  check_length(overflows ? std::numeric_limits<int64_t>::max() : all);
  stack.erase(stack.end() - 2);
}

/// Conservative: they are taken to have side effects, so that no pass of the compiler removes them,
/// or computes what lies behind them beforehand.
void register_checks() {
  constexpr auto kConservative = c10::AliasAnalysisKind::CONSERVATIVE;
  static const torch::jit::RegisterOperators registered({
      Operator(
          std::string(kCheck) + "() -> ()", [](Stack&) { check_run_limit(); }, kConservative),
      Operator(std::string(kPass) + "(Any value) -> Any", pass_if_short, kConservative),
      Operator(std::string(kRepeat) + "(Any value, int times) -> int", pass_if_few, kConservative),
  });
}

/// Operators whose result is larger than what they are given, for lists and strings.
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

/// Puts `check` before `node`, and its result in the place of one of the node's inputs.
void guard_input(Node& node, size_t input, const char* check,
                 at::ArrayRef<torch::jit::Value*> arguments) {
  auto* guard = node.owningGraph()->create(c10::Symbol::fromQualString(check), arguments, 1);
  guard->output()->setType(node.input(input)->type());
  guard->insertBefore(&node);
  node.replaceInput(input, guard->output());
}

void guard_growth(Node& node) {
  if (node.inputs().empty() || node.outputs().empty()) return;
  if (grows(node) && (is_list_or_string(*node.output()) || is_list_or_string(*node.input(0)))) {
    guard_input(node, 0, kPass, {node.input(0)});
  }
  const bool repeats = node.kind() == c10::aten::mul || node.kind() == c10::aten::mul_;
  if (!repeats || !is_list_or_string(*node.output())) return;
  const size_t times = is_list_or_string(*node.input(0)) ? 1 : 0;
  guard_input(node, times, kRepeat, {node.input(1 - times), node.input(times)});
}

// ---- Operators that look at their arguments first ----

std::string checked_name(std::string_view name) {
  return "libtorch_serve::" + std::string(name.substr(std::string_view("aten::").size()));
}

/// The same operator under the other name, which looks first.
Operator checked(const Operator& op, Precondition precondition) {
  const c10::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  torch::jit::Operation look_and_run(
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
          std::move(look_and_run),     c10::AliasAnalysisKind::FROM_SCHEMA};
}

/// LibTorch keeps what is registered until the process ends.
void register_checked(const Operator& op, Precondition precondition) {
  static std::mutex mutex;
  static std::set<std::string> registered;
  const c10::FunctionSchema& schema = op.schema();
  const std::lock_guard lock(mutex);
  if (!registered.insert(schema.name() + "." + schema.overload_name()).second) return;
  torch::jit::registerOperator(checked(op, precondition));
}

/// False: it is used as it is.
bool check_arguments(Node& node) {
  const Precondition precondition = precondition_of(node.kind().toQualString());
  const Operator* op = precondition == nullptr ? nullptr : node.maybeOperator();
  if (op == nullptr) return false;
  register_checked(*op, precondition);
  node.replaceWithNewSymbol(c10::Symbol::fromQualString(checked_name(op->schema().name())));
  return true;
}

// ---- Tensors that begin as whatever lay in their memory ----

/// aten::zeros takes what aten::empty does, but for the layout in memory, which comes last.
std::optional<c10::Symbol> zeroed(const Node& node) {
  if (node.kind() == c10::aten::empty) return c10::aten::zeros;
  if (node.kind() == c10::aten::empty_like) return c10::aten::zeros_like;
  if (node.kind() == c10::aten::new_empty) return c10::aten::new_zeros;
  return std::nullopt;
}

/// False: it makes no such tensor.
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

void guard_block(torch::jit::Block& block) {
  for (auto it = block.nodes().begin(); it != block.nodes().end(); ++it) {
    for (auto* inner : it->blocks()) guard_block(*inner);
    if (it->hasAttribute(c10::attr::Subgraph)) {
      guard_block(*it->g(c10::attr::Subgraph)->block());
    }
    guard_growth(**it);
    if (it->kind() == c10::prim::Loop) {
      auto* check = block.owningGraph()->create(c10::Symbol::fromQualString(kCheck), 0);
      it->blocks().front()->prependNode(check);
    }
    if (zero(**it) || check_arguments(**it)) it.destroyCurrent();
  }
}

}  // namespace

void guard_code(torch::jit::CompilationUnit& functions) {
  register_checks();
  for (auto* function : functions.get_functions()) {
    if (auto* code = torch::jit::tryToGraphFunction(*function)) {
      guard_block(*code->graph()->block());
    }
  }
}

}  // namespace backend
