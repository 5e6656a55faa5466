// Symbolic arithmetic: nodes that compute sizes instead of tensors.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <string_view>
#include <vector>

namespace backend {

/// Python's function for integers, floats and booleans. Throws scheduler::BackendError if there is
/// no result: division by zero, overflow, wrong type.
using SymbolicFunction = c10::IValue (*)(const std::vector<c10::IValue>& arguments);

struct SymbolicOperator {
  SymbolicFunction function;
  size_t min_arguments, max_arguments;  ///< minimum and maximum number of arguments
};

/// Finds a function: "_operator.add", "math.trunc", "torch.sym_max"; unset if unknown.
std::optional<SymbolicOperator> symbolic_operator(std::string_view target);

}  // namespace backend
