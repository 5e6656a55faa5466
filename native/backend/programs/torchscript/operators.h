// Validation of the operators of TorchScript code, without running it.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <set>
#include <string>
#include <vector>

#include "backend/inspect.h"

namespace backend {

/// Throws LoadError with `file` and the operators if forward(), or a function it calls, uses an
/// operator that is not allowed (allowed_operators.h, `added_operators`), creates an excessively
/// large tensor, prints in a loop, or is too large or too deeply nested after inlining.
void require_allowed_operators(const torch::jit::Module& module, const std::string& file,
                               const std::set<std::string>& added_operators);

/// Operators of forward() and of the functions it calls; each function counts once.
std::vector<OperatorReport> list_operators(const torch::jit::Module& module,
                                           const std::set<std::string>& added_operators);

}  // namespace backend
