// What LibTorch's libraries may not use here.
#pragma once

#include "gemm/instruction_limit.h"
#include "gemm/processor.h"

namespace backend {

/// Whether the libraries inside LibTorch would take the flags of AMX for all there is to it, and
/// end the process with an illegal instruction.
bool is_matrix_unit_unsafe(const gemm::Processor& processor);

/// Where that is so, keeps them from it by their environment variables; and where a limit is set
/// (INSTRUCTIONS), from all that it does not allow. A variable that the user has set stays as it
/// is. They are read once, when the libraries first compute.
void limit_instructions(const gemm::Processor& processor, const gemm::InstructionLimit* limit);

}  // namespace backend
