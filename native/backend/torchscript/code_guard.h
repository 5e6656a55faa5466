// Keeps the code of a TorchScript file within the limits of its run, and within its tensors.
#pragma once

namespace torch::jit {
struct CompilationUnit;
}

namespace backend {

/// Puts into all functions of a file: a look at the limits into the body of every loop, and before
/// lists and strings grow; in the place of each operator with a precondition
/// (program/preconditions.h) one that looks first and then does the same; zeros in the place of
/// every tensor that would begin as whatever lay in its memory before, such as parts of somebody
/// else's request. To be called before any of them runs: what depends on no input is computed when
/// the module is frozen. What the interpreter cannot be kept from is one operator that takes for
/// ever.
void guard_code(torch::jit::CompilationUnit& functions);

}  // namespace backend
