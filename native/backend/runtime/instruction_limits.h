// What LibTorch's libraries may not use here.
#pragma once

#include "kernels/cpu.h"

namespace backend {

/// Sets the environment variables by which the libraries inside LibTorch keep to a limit
/// (INSTRUCTIONS), and leave AMX alone if CPUID is inconsistent about it. A variable that the user
/// has set stays as it is. They are read once, when the libraries first compute.
void limit_instructions(const kernels::Processor& processor, const kernels::InstructionLimit* limit);

}  // namespace backend
