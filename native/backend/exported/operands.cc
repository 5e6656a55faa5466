#include "exported/operands.h"

#include <algorithm>
#include <utility>

#include "engine/backend.h"
#include "exported/operators.h"

namespace backend {
namespace {

/// Once, and not for each run.
void make_constant_list(Operand& operand, const Node& node) {
  if (operand.from != Operand::From::kList || !is_constant(operand)) return;
  std::vector<c10::IValue> values;
  for (const Operand& item : operand.items) {
    if (item.from != Operand::From::kConstant) return;  // a list in a list
    values.push_back(item.constant);
  }
  try {
    operand.constant = list_of(std::move(values), *operand.expected);
  } catch (const engine::BackendError& error) {
    refuse(node, error.what());
  }
  operand.from = Operand::From::kConstant;
  operand.items.clear();
}

}  // namespace

bool is_constant(const Operand& operand) {
  return operand.from == Operand::From::kConstant ||
         (operand.from == Operand::From::kList && std::ranges::all_of(operand.items, is_constant));
}

std::vector<Operand> operands_of(Scope& scope, const Node& node,
                                 const c10::FunctionSchema& schema) {
  std::vector<Operand> operands;
  operands.reserve(schema.arguments().size());
  size_t used = 0;
  for (const c10::Argument& expected : schema.arguments()) {
    const auto input = std::ranges::find(node.inputs, expected.name(),
                                         [](const auto& given) { return given.first; });
    if (input != node.inputs.end()) {
      ++used;
      operands.push_back(scope.operand_of(input->second, &expected, node.name));
      make_constant_list(operands.back(), node);
    } else if (expected.default_value()) {
      operands.emplace_back().constant = *expected.default_value();
    } else {
      refuse(node, "has no argument " + expected.name());
    }
  }
  if (used != node.inputs.size()) {
    refuse(node, "has arguments that the operator does not take in this LibTorch");
  }
  return operands;
}

}  // namespace backend
