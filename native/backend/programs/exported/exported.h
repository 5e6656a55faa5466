// Programs of torch.export.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "backend/backends.h"
#include "backend/inspect.h"
#include "programs/program.h"

namespace backend {

/// Loads a `.pt2` file of PyTorch 2.6 to 2.15. The file has no code: a graph of ATen operators,
/// which our interpreter executes if they are allowed, and memory-mapped weights. Throws LoadError
/// with the file name, and with operator and node if an operator is not allowed.
std::unique_ptr<Program> load_exported(const std::string& path, const ComputeOptions& compute);

/// See inspect_program().
ProgramReport inspect_exported(const std::string& path,
                               const std::set<std::string>& allowed_operators);

}  // namespace backend
