// Name resolution while the plan of a graph is built.
#pragma once

#include <ATen/core/function_schema.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "programs/exported/graph.h"
#include "programs/exported/plan.h"

namespace backend {

class Scope {
 public:
  explicit Scope(const Graph& graph) : graph_(graph) {}

  const Graph& graph() const { return graph_; }

  /// Defines a value: a constant or a slot. Throws LoadError if the name is already defined.
  void bind(const rust::String& name, Operand value);
  /// Returns a value. Throws LoadError with `user` if it is not defined.
  const Operand& value_of(const std::string& name, const std::string& user) const;

  /// Arguments of a node in schema order. Throws LoadError with the node if one is missing, unknown
  /// or has the wrong type.
  std::vector<Operand> operands_of(const Node& node, const c10::FunctionSchema& schema) const;

  /// Resolves an argument. expected: argument of the schema; null: no conversion. Throws LoadError
  /// with `user`.
  Operand operand_of(const Argument& argument, const c10::Argument* expected,
                     const std::string& user) const;

 private:
  Operand operand_of_list(const Arguments& list, const c10::Argument* expected,
                          const std::string& user) const;

  const Graph& graph_;
  std::unordered_map<std::string, Operand> values_;
};

/// Value of a constant argument that is not a list. Throws LoadError with `user`.
c10::IValue constant_of(const Argument& argument, const std::string& user);

/// Throws LoadError with operator, node and problem.
[[noreturn]] void reject(const Node& node, const std::string& problem);

}  // namespace backend
