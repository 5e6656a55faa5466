// The input of a signal model.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "program/program.h"

namespace backend {

struct SignalInput {
  std::vector<int64_t> shape;  ///< of a window; the windows of a run come before it
  c10::ScalarType type;        ///< one of floating point
  Extent windows;              ///< that a run takes
};

/// Of the one input that there has to be. Throws LoadError: there are others, of another type, or
/// without room for what the settings say of a window.
SignalInput signal_input_of(const std::vector<ProgramInput>& inputs,
                            const SignalProgramSource& source);

}  // namespace backend
