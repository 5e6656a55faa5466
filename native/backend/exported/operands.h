// The arguments of a node, in the order of its operator's schema.
#pragma once

#include <ATen/core/function_schema.h>

#include <vector>

#include "exported/plan.h"
#include "exported/scope.h"

namespace backend {

/// Throws LoadError naming the node where one is missing, too many, or of another type.
std::vector<Operand> operands_of(Scope& scope, const Node& node, const c10::FunctionSchema& schema);

/// Also a list of constants.
bool is_constant(const Operand& operand);

}  // namespace backend
