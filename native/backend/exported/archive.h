// The file that torch.export.save writes.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <memory>
#include <string>

#include "files/mapped_file.h"

namespace backend {

using NamedTensors = std::map<std::string, at::Tensor>;

/// What is in it. The tensors are views of the mapped file, which nobody may write to.
struct ExportedArchive {
  std::shared_ptr<const MappedFile> file;
  std::string graph;       ///< JSON
  NamedTensors weights;    ///< parameters, and buffers that state_dict() has
  NamedTensors constants;  ///< tensors of the code, and other buffers
};

/// Throws LoadError naming the file: it cannot be read, is damaged, or of a version that is not
/// known here (PyTorch 2.6 to 2.15 are).
ExportedArchive open_exported_archive(const std::string& path);

}  // namespace backend
