// Keeps the code of a TorchScript file within the limits of its run.
#pragma once

namespace torch::jit {
struct CompilationUnit;
}

namespace backend {

/// Puts a look at the limits into the body of every loop, and before lists and strings grow, of all
/// functions of a file. To be called before any of them runs. What the interpreter cannot be kept
/// from is one operator that takes for ever.
void guard_code(torch::jit::CompilationUnit& functions);

}  // namespace backend
