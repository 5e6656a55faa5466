// TorchScript files as programs.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "backend/backends.h"
#include "backend/inspect.h"
#include "program/program.h"

namespace backend {

/// Throws LoadError naming the file.
std::unique_ptr<Program> load_torchscript(const std::string& path, const ComputeOptions& compute);

/// See inspect_program().
ProgramReport inspect_torchscript(const std::string& path,
                                  const std::set<std::string>& allowed_operators);

}  // namespace backend
