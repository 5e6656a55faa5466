// Validation of TorchScript source code before it is compiled.
#pragma once

#include <string>

namespace backend {

/// Throws LoadError with the record and the line if the code would run while loading (__setstate__;
/// expressions as defaults of arguments or NamedTuple fields, which LibTorch evaluates at compile
/// time), refers to a C++ class, or is nested too deeply for a recursive parser. Other errors are
/// left to the compiler.
void validate_source(const std::string& text, const std::string& record);

}  // namespace backend
