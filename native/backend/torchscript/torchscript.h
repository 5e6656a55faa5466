// TorchScript files as programs.
#pragma once

#include <memory>
#include <string>

#include "backend/backends.h"
#include "program/program.h"

namespace backend {

/// Throws LoadError naming the file.
std::unique_ptr<Program> load_torchscript(const std::string& path, const ComputeOptions& compute);

}  // namespace backend
