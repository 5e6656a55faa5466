// What a TorchScript file may contain, looked at before any of its code can run.
#pragma once

#include <string>

namespace torch::jit {
struct Module;
}

namespace backend {

/// torch::jit::load runs the __setstate__ methods of a file, and builds C++ objects of registered
/// classes. A classifier has no use for either. Throws LoadError naming what was found, also when
/// the file is no TorchScript archive. Reads the archive's code only.
void require_harmless_archive(const std::string& path);

/// Of the loaded model's forward(): only tensor operators, none that touches files.
/// Throws LoadError naming the operator.
void require_harmless_operators(const torch::jit::Module& module, const std::string& file);

}  // namespace backend
