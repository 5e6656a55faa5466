// What the code of a TorchScript file may do, looked at before any of it runs.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <set>
#include <string>
#include <vector>

#include "backend/inspect.h"

namespace backend {

/// Throws LoadError, naming `file` and each operator, where forward() or anything that it calls
/// uses one that is not allowed (allowed_operators.h; `added` too), asks for a tensor of an absurd
/// size, prints in a loop, or is too large or too deeply nested when it is inlined.
void require_allowed_operators(const torch::jit::Module& module, const std::string& file,
                               const std::set<std::string>& added);

/// Of forward() and of what it calls; each function counts once.
std::vector<OperatorReport> list_operators(const torch::jit::Module& module,
                                           const std::set<std::string>& added);

}  // namespace backend
