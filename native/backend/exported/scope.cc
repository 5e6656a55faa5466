#include "exported/scope.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "backend/model_config.h"
#include "engine/backend.h"
#include "exported/operators.h"

namespace backend {

using c10::IValue;

namespace {

/// To LibTorch these are integers, by which it looks into tables without a look at them.
void require_enumerator(const Argument& argument, const c10::Argument& expected,
                        const std::string& user) {
  const c10::TypePtr& declared = expected.real_type();
  const auto optional = declared->cast<c10::OptionalType>();
  const c10::TypeKind kind = (optional ? optional->getElementType() : declared)->kind();
  if (std::holds_alternative<std::monostate>(argument)) return;
  const auto require = [&](bool is_one, const char* what) {
    if (!is_one) throw LoadError(user + ": " + expected.name() + ": expected " + what);
  };
  if (kind == c10::TypeKind::ScalarTypeType) {
    require(std::holds_alternative<c10::ScalarType>(argument), "a type of numbers");
  } else if (kind == c10::TypeKind::LayoutType) {
    require(std::holds_alternative<c10::Layout>(argument), "a layout");
  } else if (kind == c10::TypeKind::MemoryFormatType) {
    require(std::holds_alternative<c10::MemoryFormat>(argument), "a memory format");
  }
}

}  // namespace

void Scope::bind(const std::string& name, Operand value) {
  if (!values_.emplace(name, std::move(value)).second) {
    throw LoadError("two values have the name " + name);
  }
}

const Operand& Scope::value_of(const std::string& name, const std::string& user) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw LoadError(user + ": takes the value " + name + ", which nothing before it gives");
  }
  return found->second;
}

std::vector<Operand> Scope::operands_of(const Node& node, const c10::FunctionSchema& schema) const {
  std::vector<Operand> operands;
  operands.reserve(schema.arguments().size());
  size_t used = 0;
  for (const c10::Argument& expected : schema.arguments()) {
    const auto input = std::ranges::find(node.inputs, expected.name(),
                                         [](const auto& given) { return given.first; });
    if (input != node.inputs.end()) {
      ++used;
      try {
        operands.push_back(operand_of(input->second, &expected, node.name));
      } catch (const engine::BackendError& error) {
        refuse(node, error.what());
      }
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

Operand Scope::operand_of(const Argument& argument, const c10::Argument* expected,
                          const std::string& user) const {
  if (const auto* list = std::get_if<ArgumentList>(&argument)) {
    return operand_of_list(*list, expected, user);
  }
  if (expected != nullptr) require_enumerator(argument, *expected, user);
  const auto* value = std::get_if<ValueName>(&argument);
  Operand operand =
      value ? value_of(value->name, user) : Operand{.constant = constant_of(argument, user)};
  operand.expected = expected;
  if (expected != nullptr && operand.is_constant()) {
    operand.constant = fitted(std::move(operand.constant), *expected);
  }
  return operand;
}

Operand Scope::operand_of_list(const ArgumentList& list, const c10::Argument* expected,
                               const std::string& user) const {
  if (expected == nullptr) throw LoadError(user + ": a list is given where none is expected");
  Operand operand{.from = Operand::From::kList, .expected = expected};
  operand.items.reserve(list.items.size());
  for (const Argument& item : list.items) {
    if (std::holds_alternative<ArgumentList>(item)) {
      throw LoadError(user + ": lists inside lists are not supported");
    }
    operand.items.push_back(operand_of(item, nullptr, user));
  }
  if (!std::ranges::all_of(operand.items, &Operand::is_constant)) return operand;
  std::vector<IValue> values;  // made a list once, and not for each run
  values.reserve(operand.items.size());
  for (Operand& item : operand.items) values.push_back(std::move(item.constant));
  return {.constant = list_of(std::move(values), *expected)};
}

IValue constant_of(const Argument& argument, const std::string& user) {
  return std::visit(
      [&](const auto& value) -> IValue {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::monostate>) {
          return {};
        } else if constexpr (std::is_same_v<Value, c10::ScalarType> ||
                             std::is_same_v<Value, c10::MemoryFormat> ||
                             std::is_same_v<Value, c10::Layout>) {
          return static_cast<int64_t>(value);
        } else if constexpr (std::is_constructible_v<IValue, Value>) {
          return value;
        } else {
          throw LoadError(user + ": a graph is given where none is expected");
        }
      },
      static_cast<const Argument::variant&>(argument));
}

void refuse(const Node& node, const std::string& problem) {
  throw LoadError(node.target + " (node " + node.name + "): " + problem);
}

}  // namespace backend
