// The operators that an exported graph may call.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/inspect.h"
#include "exported/graph.h"

namespace backend {

/// Of the ATen library, allowed, and with all arguments that its schema asks for.
struct FoundOperator {
  std::optional<c10::OperatorHandle> handle;
  std::string problem;  ///< why there is none: for people
};

/// "torch.ops.aten.linear.default". `added`: operators that the user allows beside those of the
/// list (program/allowed_operators.h), as "aten::as_strided".
FoundOperator find_operator(const rust::String& target, const std::set<std::string>& added);

/// Of a graph, and of those inside it.
std::vector<OperatorReport> list_operators(const Graph& graph,
                                           const std::set<std::string>& added_operators);

/// Throws LoadError that names every operator that is refused, and a node that uses it.
void require_allowed_operators(const Graph& graph, const std::set<std::string>& added_operators);

/// Whether its result is not the same each time, or whatever lay in its memory before.
bool is_random(const c10::OperatorHandle& op);
bool leaves_memory_as_it_was(const c10::OperatorHandle& op);

/// Whether it may give back what it is given, or a part of it, and its schema does not say so.
bool may_return_its_input(const c10::OperatorHandle& op);

/// Whether the node may write to what it is given as this argument of its operator.
bool writes_to(const c10::OperatorHandle& op, const Node& node, const c10::Argument& argument);

/// Whether the node gives back its input: dropout outside of training, what autograd alone needs.
bool is_identity(const c10::OperatorHandle& op, const Node& node);

/// A value in the type that an operator expects: numbers become tensors, one number a list of them,
/// as in Python. What does not fit is left for the operator to refuse.
c10::IValue fitted(c10::IValue value, const c10::Argument& expected);

/// A list of the type that an operator expects: of tensors, perhaps missing ones, or of numbers.
/// Throws scheduler::BackendError for others.
c10::IValue list_of(std::vector<c10::IValue> values, const c10::Argument& expected);

}  // namespace backend
