// Validation of TorchScript files before LibTorch loads them.
#pragma once

#include <string>

namespace backend {

/// Validates the zip directory, the pickles and the source code. LibTorch runs code while it loads
/// a file, trusts the sizes in it, and parses it recursively. Throws LoadError with the file, the
/// record and the problem.
void validate_archive(const std::string& path);

}  // namespace backend
