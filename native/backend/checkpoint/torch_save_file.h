// The tensors of a file that torch.save wrote.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace backend {

using NamedTensors = std::map<std::string, at::Tensor>;

/// Tensors by name from a state_dict saved with torch.save: the zip format, or the one of PyTorch
/// before 1.6. No code of the file is run, see pickle_reader.h. Messages name the file without its
/// folder. Throws LoadError.
NamedTensors read_torch_save(const std::string& path);

/// The same of such a file that lies inside another one, in the zip format alone. The tensors are
/// views of `bytes`, not to be written to, and keep `owner`. Messages have no file's name.
NamedTensors view_torch_save(std::span<const std::byte> bytes,
                             const std::shared_ptr<const void>& owner);

/// One dimension of `count` elements that lie in `bytes`, a view as above, or copied where the
/// processor cannot read such elements from there.
at::Tensor view_elements(std::span<const std::byte> bytes, at::ScalarType type,
                         const std::shared_ptr<const void>& owner);

}  // namespace backend
