// Run-time checks in the code of a TorchScript file.
#pragma once

namespace torch::jit {
struct CompilationUnit;
}

namespace backend {

/// Adds checks to all functions of a file, before any of them runs (freezing runs code that depends
/// on no input):
/// - a check of the run limits in each loop body, and before lists and strings grow;
/// - argument validation before operators with a precondition (programs/preconditions.h);
/// - zeros instead of uninitialized tensors, which could contain data of other requests.
/// A single long-running operator cannot be interrupted.
void add_runtime_checks(torch::jit::CompilationUnit& functions);

}  // namespace backend
