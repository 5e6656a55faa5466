// Programs that torch.export saved, run by an interpreter of ours.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "backend/backends.h"
#include "backend/inspect.h"
#include "program/program.h"

namespace backend {

/// A `.pt2` file of PyTorch 2.6 to 2.15. Nothing in it is code: a graph of ATen operators, of which
/// those that are allowed are called, and weights, which are mapped. Throws LoadError naming the
/// file, and operator and node where one is refused.
std::unique_ptr<Program> load_exported(const std::string& path, const ComputeOptions& compute);

/// See inspect_program().
ProgramReport inspect_exported(const std::string& path,
                               const std::set<std::string>& allowed_operators);

}  // namespace backend
