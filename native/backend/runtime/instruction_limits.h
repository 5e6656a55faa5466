// Instruction limits of the libraries inside LibTorch.
#pragma once

#include "kernels/cpu.h"

namespace backend {

/// Sets the environment variables that limit the instructions of the libraries inside LibTorch to
/// `limit` (INSTRUCTION_SET; null: no limit), and that disable AMX if CPUID is inconsistent about
/// it. Variables that are already set are kept. The libraries read them once, at their first
/// computation.
void limit_instructions(const kernels::Processor& processor,
                        const kernels::InstructionLimit* limit);

}  // namespace backend
