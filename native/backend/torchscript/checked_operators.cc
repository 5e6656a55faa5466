#include "torchscript/checked_operators.h"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/backend.h"
#include "program/preconditions.h"

namespace backend {
namespace {

using torch::jit::Node;
using torch::jit::Operator;
using torch::jit::Stack;

constexpr std::string_view kAten = "aten::";

std::string checked_name(std::string_view name) {
  return "libtorch_serve::" + std::string(name.substr(kAten.size()));
}

/// The same operator under the other name, which looks first.
Operator checked(const Operator& op, Precondition precondition) {
  const c10::FunctionSchema& schema = op.schema();
  const size_t count = schema.arguments().size();
  torch::jit::Operation look_and_run(
      [=, name = schema.name(), run = op.getOperation()](Stack& stack) mutable {
        try {
          precondition(torch::jit::last(stack, count));
        } catch (const engine::BackendError& error) {
          throw engine::BackendError(name + ": " + error.what());
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
bool replace(Node& node) {
  const Precondition precondition = precondition_of(node.kind().toQualString());
  const Operator* op = precondition == nullptr ? nullptr : node.maybeOperator();
  if (op == nullptr) return false;
  register_checked(*op, precondition);
  node.replaceWithNewSymbol(c10::Symbol::fromQualString(checked_name(op->schema().name())));
  return true;
}

void check_block(torch::jit::Block& block) {
  for (auto it = block.nodes().begin(); it != block.nodes().end(); ++it) {
    for (auto* inner : it->blocks()) check_block(*inner);
    if (it->hasAttribute(c10::attr::Subgraph)) {
      check_block(*it->g(c10::attr::Subgraph)->block());
    }
    if (replace(**it)) it.destroyCurrent();
  }
}

}  // namespace

void check_operators(torch::jit::CompilationUnit& functions) {
  for (auto* function : functions.get_functions()) {
    if (auto* code = torch::jit::tryToGraphFunction(*function)) {
      check_block(*code->graph()->block());
    }
  }
}

}  // namespace backend
