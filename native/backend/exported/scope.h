// Names of one graph while its plan is made, and arguments that refer to them.
#pragma once

#include <ATen/core/function_schema.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "exported/graph.h"
#include "exported/plan.h"

namespace backend {

class Scope {
 public:
  explicit Scope(const Graph& graph) : graph_(graph) {}

  const Graph& graph() const { return graph_; }

  /// value: a constant, or what lies in a slot. Throws LoadError where there is such a value
  /// already.
  void bind(const rust::String& name, Operand value);
  /// Throws LoadError naming `user` where nothing gives it.
  const Operand& value_of(const std::string& name, const std::string& user) const;

  /// The arguments of a node, in the order of its operator's schema. Throws LoadError naming the
  /// node where one is missing, too many, or of another type.
  std::vector<Operand> operands_of(const Node& node, const c10::FunctionSchema& schema) const;

  /// expected: of an operator's schema, or null. Throws LoadError naming `user`.
  Operand operand_of(const Argument& argument, const c10::Argument* expected,
                     const std::string& user) const;

 private:
  Operand operand_of_list(const Arguments& list, const c10::Argument* expected,
                          const std::string& user) const;

  const Graph& graph_;
  std::unordered_map<std::string, Operand> values_;
};

/// An argument that names no value and is no list. Throws LoadError naming `user`.
c10::IValue constant_of(const Argument& argument, const std::string& user);

/// Throws LoadError: operator, node, problem.
[[noreturn]] void refuse(const Node& node, const std::string& problem);

}  // namespace backend
