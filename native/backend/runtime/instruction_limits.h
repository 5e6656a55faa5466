// What LibTorch's libraries may not use here.
#pragma once

#include "gemm/processor.h"

namespace backend {

/// Whether the libraries inside LibTorch would take the flags of AMX for all there is to it, and
/// end the process with an illegal instruction.
bool is_matrix_unit_unsafe(const gemm::Processor& processor);

/// Where that is so, keeps them from it by their environment variables, unless the user has set
/// these. They read them once, when they first compute.
void limit_instructions(const gemm::Processor& processor);

}  // namespace backend
