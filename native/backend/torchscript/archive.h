// Whether a TorchScript file may be handed to LibTorch.
#pragma once

#include <string>

namespace backend {

/// LibTorch runs code while it loads a file, believes what a file says of its own sizes, and reads
/// it with parsers that call themselves. So everything that it will read is read here first: the
/// zip directory, the pickles, the source code. Throws LoadError naming the file, the record and
/// what is wrong with it.
void require_harmless_archive(const std::string& path);

}  // namespace backend
