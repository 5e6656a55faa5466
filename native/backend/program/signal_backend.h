// A program over windows of a signal.
#pragma once

#include <memory>

#include "backend/backends.h"
#include "program/program.h"

namespace backend {

/// Tried first. Throws LoadError, or what the program throws.
LoadedModel serve_signals(std::unique_ptr<Program> program, const SignalProgramSource& source,
                          const ComputeOptions& compute);

}  // namespace backend
