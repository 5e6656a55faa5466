// Operators of exported graphs.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/inspect.h"
#include "programs/exported/graph.h"

namespace backend {

/// Result of an operator look-up.
struct FoundOperator {
  std::optional<c10::OperatorHandle> handle;
  std::string problem;  ///< why it cannot be used; set if there is no handle
};

/// Finds an operator, for example "torch.ops.aten.linear.default". `added_operators`: operators
/// that the user allows in addition to the allow-list (programs/allowed_operators.h), as
/// "aten::as_strided".
FoundOperator find_operator(const rust::String& target,
                            const std::set<std::string>& added_operators);

/// Operators of a graph and of its subgraphs.
std::vector<OperatorReport> list_operators(const Graph& graph,
                                           const std::set<std::string>& added_operators);

/// Throws LoadError with all operators that are not allowed, and a node for each.
void require_allowed_operators(const Graph& graph, const std::set<std::string>& added_operators);

/// True if the operator draws random numbers; true if its result is uninitialized memory.
bool is_random(const c10::OperatorHandle& op);
bool returns_uninitialized(const c10::OperatorHandle& op);

/// True if the result may alias an input without an alias annotation in the schema.
bool may_alias_input(const c10::OperatorHandle& op);

/// True if the node may write to this argument.
bool writes_to(const c10::OperatorHandle& op, const Node& node, const c10::Argument& argument);

/// True if the node returns its input: dropout in inference, operators for autograd.
bool is_identity(const c10::OperatorHandle& op, const Node& node);

/// Converts a value to the type of an argument, as Python does: numbers to tensors, a number to a
/// list. Values that cannot be converted are left for the operator to reject.
c10::IValue converted(c10::IValue value, const c10::Argument& expected);

/// Creates a list of the argument's type: tensors (possibly None) or numbers. Throws
/// scheduler::BackendError for other values.
c10::IValue list_of(std::vector<c10::IValue> values, const c10::Argument& expected);

}  // namespace backend
