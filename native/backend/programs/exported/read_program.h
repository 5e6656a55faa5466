// Reader of torch.export files.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "checkpoint/torch_save_file.h"
#include "common/files/mapped_file.h"
#include "programs/program.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Contents of a file. The tensors are read-only views of the mapped file.
struct ReadProgram {
  std::shared_ptr<const common::MappedFile> file;
  tokenizers::ExportedProgram program;  ///< graph outputs: those of the caller, in order
  NamedTensors weights;                 ///< parameters, and buffers in state_dict()
  NamedTensors constants;               ///< tensor constants, and other buffers

  /// A weight, buffer or constant. Throws LoadError if it is missing.
  const at::Tensor& tensor(const std::string& name) const;
};

/// Reads a file of PyTorch 2.6 to 2.15. Throws LoadError with the file name if it cannot be read,
/// is damaged or has another version.
ReadProgram read_program(const std::string& path);

/// Converts an input of the signature.
ProgramInput input_of(const tokenizers::UserInput& read);

}  // namespace backend
