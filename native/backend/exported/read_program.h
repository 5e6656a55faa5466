// The file that torch.export.save writes.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "checkpoint/torch_save_file.h"
#include "files/mapped_file.h"
#include "tokenizers/bridge.h"
#include "program/program.h"

namespace backend {

/// What is in it. The tensors are views of the mapped file, which nobody may write to.
struct ReadProgram {
  std::shared_ptr<const MappedFile> file;
  tokenizers::ExportedProgram program;  ///< its graph's outputs are those that the caller gets, in order
  NamedTensors weights;         ///< parameters, and buffers that state_dict() has
  NamedTensors constants;       ///< tensors of the code, and other buffers

  /// Of weights, buffers and constants. Throws LoadError when it is not there.
  const at::Tensor& tensor(const std::string& name) const;
};

/// Throws LoadError naming the file: it cannot be read, is damaged, or of a version that is not
/// known here (PyTorch 2.6 to 2.15 are).
ReadProgram read_program(const std::string& path);

/// A tensor that the program takes.
ProgramInput input_of(const tokenizers::UserInput& read);

}  // namespace backend
