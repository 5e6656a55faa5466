#include "programs/exported/scope.h"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "programs/exported/operators.h"
#include "scheduler/backend.h"

namespace backend {

using c10::IValue;

namespace {

/// Throws LoadError if an enumeration argument has another kind: LibTorch uses its value as an
/// unchecked table index.
void require_enumerator(const Argument& argument, const c10::Argument& expected,
                        const std::string& user) {
  const c10::TypePtr& declared = expected.real_type();
  const auto optional = declared->cast<c10::OptionalType>();
  const auto require = [&](ArgumentKind kind, const char* what) {
    if (argument.kind == ArgumentKind::None || argument.kind == kind) return;
    throw common::LoadError(user + ": " + expected.name() + ": expected " + what);
  };
  switch ((optional ? optional->getElementType() : declared)->kind()) {
    case c10::TypeKind::ScalarTypeType:
      return require(ArgumentKind::ScalarType, "a type of numbers");
    case c10::TypeKind::LayoutType:
      return require(ArgumentKind::Layout, "a layout");
    case c10::TypeKind::MemoryFormatType:
      return require(ArgumentKind::MemoryFormat, "a memory format");
    default:
      break;
  }
}

}  // namespace

void Scope::bind(const rust::String& given_name, Operand value) {
  const std::string name(given_name);
  if (!values_.emplace(name, std::move(value)).second) {
    throw common::LoadError("two values have the name " + name);
  }
}

const Operand& Scope::value_of(const std::string& name, const std::string& user) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    throw common::LoadError(user + ": takes the value " + name + ", which nothing before it gives");
  }
  return found->second;
}

std::vector<Operand> Scope::operands_of(const Node& node, const c10::FunctionSchema& schema) const {
  std::vector<Operand> operands;
  operands.reserve(schema.arguments().size());
  size_t used = 0;
  for (const c10::Argument& expected : schema.arguments()) {
    const auto input = std::ranges::find_if(
        node.inputs, [&](const auto& given) { return view(given.name) == expected.name(); });
    if (input != node.inputs.end()) {
      ++used;
      try {
        operands.push_back(operand_of(input->arg, &expected, name_of(node)));
      } catch (const scheduler::BackendError& error) {
        reject(node, error.what());
      }
    } else if (expected.default_value()) {
      operands.emplace_back().constant = *expected.default_value();
    } else {
      reject(node, "has no argument " + expected.name());
    }
  }
  if (used != node.inputs.size()) {
    reject(node, "has arguments that the operator does not take in this LibTorch");
  }
  return operands;
}

Operand Scope::operand_of(const Argument& argument, const c10::Argument* expected,
                          const std::string& user) const {
  if (const auto* list = list_in(argument)) return operand_of_list(*list, expected, user);
  if (expected != nullptr) require_enumerator(argument, *expected, user);
  Operand operand = is_value(argument) ? value_of(std::string(argument.text), user)
                                       : Operand{.constant = constant_of(argument, user)};
  operand.expected = expected;
  if (expected != nullptr && operand.is_constant()) {
    operand.constant = converted(std::move(operand.constant), *expected);
  }
  return operand;
}

Operand Scope::operand_of_list(const Arguments& list, const c10::Argument* expected,
                               const std::string& user) const {
  if (expected == nullptr) throw common::LoadError(user + ": unexpected list");
  Operand operand{.from = Operand::From::kList, .expected = expected};
  operand.items.reserve(list.size());
  for (const Argument& item : list) {
    if (list_in(item)) throw common::LoadError(user + ": lists inside lists are not supported");
    operand.items.push_back(operand_of(item, nullptr, user));
  }
  if (!std::ranges::all_of(operand.items, &Operand::is_constant)) return operand;
  std::vector<IValue> values;  // a constant list, created once instead of for each run
  values.reserve(operand.items.size());
  for (Operand& item : operand.items) values.push_back(std::move(item.constant));
  return {.constant = list_of(std::move(values), *expected)};
}

IValue constant_of(const Argument& argument, const std::string& user) {
  switch (argument.kind) {
    case ArgumentKind::None:
      return {};
    case ArgumentKind::Integer:
      return argument.integer;
    case ArgumentKind::Number:
      return argument.number;
    case ArgumentKind::Boolean:
      return argument.integer != 0;
    case ArgumentKind::Text:
      return std::string(argument.text);
    case ArgumentKind::Complex:
      return c10::complex<double>(argument.number, argument.imaginary);
    case ArgumentKind::ScalarType:
      return static_cast<int64_t>(scalar_type_of(argument.integer));
    case ArgumentKind::MemoryFormat:
      return static_cast<int64_t>(memory_format_of(argument.integer));
    case ArgumentKind::Layout:
      return static_cast<int64_t>(c10::kStrided);
    case ArgumentKind::Device:
      return c10::Device(c10::kCPU);
    default:
      throw common::LoadError(user + ": unexpected graph");
  }
}

void reject(const Node& node, const std::string& problem) {
  throw common::LoadError(std::string(node.target) + " (node " + name_of(node) + "): " + problem);
}

}  // namespace backend
