// The tensors of a file that torch.save wrote.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>

namespace backend {

/// Tensors by name from a state_dict saved with torch.save: the zip format, or the one of PyTorch
/// before 1.6. No code of the file is run, see pickle_reader.h. Messages name the file without its
/// folder. Throws LoadError.
std::map<std::string, at::Tensor> read_torch_save(const std::string& path);

}  // namespace backend
