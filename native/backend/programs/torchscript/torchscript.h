// TorchScript programs.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "backend/backends.h"
#include "backend/inspect.h"
#include "programs/program.h"

namespace backend {

/// Loads a TorchScript file. Throws LoadError with the file name.
std::unique_ptr<Program> load_torchscript(const std::string& path, const ComputeOptions& compute);

/// See inspect_program().
ProgramReport inspect_torchscript(const std::string& path,
                                  const std::set<std::string>& allowed_operators);

}  // namespace backend
