// The source code inside a TorchScript file, looked at before it is compiled.
#pragma once

#include <string>

namespace backend {

/// Throws LoadError, naming the record and the line, where the code would run while it is loaded
/// (__setstate__; an expression as the default of an argument or of a NamedTuple's field: LibTorch
/// evaluates those when it compiles them), names a C++ class, or nests more deeply than a recursive
/// parser should be given. Whatever else is no TorchScript, the compiler says.
void require_plain_source(const std::string& text, const std::string& record);

}  // namespace backend
