// Operators whose arguments are looked at before LibTorch believes them.
#pragma once

namespace torch::jit {
struct CompilationUnit;
}

namespace backend {

/// Puts in the place of each operator with a precondition (program/preconditions.h) one that looks
/// first and then does the same. To be called before any of the functions runs: what depends on no
/// input is computed when the module is frozen.
void check_operators(torch::jit::CompilationUnit& functions);

}  // namespace backend
