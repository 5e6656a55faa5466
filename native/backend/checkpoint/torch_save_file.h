// Reader of torch.save files.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace backend {

using NamedTensors = std::map<std::string, at::Tensor>;

/// Reads the tensors of a state_dict, in the zip format or the format before PyTorch 1.6. No code
/// in the file is executed (pickle_reader.h). Throws LoadError with the file name.
NamedTensors read_torch_save(const std::string& path);

/// Reads a torch.save file inside another file, in the zip format only. The tensors are read-only
/// views of `bytes` and keep `owner` alive. Throws LoadError without a file name.
NamedTensors view_torch_save(std::span<const std::byte> bytes,
                             const std::shared_ptr<const void>& owner);

/// A one-dimensional read-only view of the elements in `bytes`, which keeps `owner` alive; a copy
/// if they are not aligned.
at::Tensor view_elements(std::span<const std::byte> bytes, at::ScalarType type,
                         const std::shared_ptr<const void>& owner);

}  // namespace backend
