// Arithmetic on sizes, as the nodes of a graph have it that call no operator of tensors.
#pragma once

#include <ATen/core/ivalue.h>

#include <optional>
#include <string_view>
#include <vector>

namespace backend {

/// What Python's function of that name gives for integers, floats and booleans. Throws
/// scheduler::BackendError for what has no result: a division by zero, an overflow, a wrong type.
using SymbolicFunction = c10::IValue (*)(const std::vector<c10::IValue>& arguments);

struct SymbolicOperator {
  SymbolicFunction function;
  size_t fewest, most;  ///< arguments
};

/// "_operator.add", "math.trunc", "torch.sym_max"; nothing for one that is not known.
std::optional<SymbolicOperator> symbolic_operator(std::string_view target);

}  // namespace backend
