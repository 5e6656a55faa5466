// Everything that is read of a file of torch.export.
#pragma once

#include <string>
#include <vector>

#include "exported/archive.h"
#include "exported/graph.h"
#include "exported/guards.h"
#include "exported/signature.h"

namespace backend {

struct ReadProgram {
  ExportedArchive archive;
  Signature signature;
  Graph graph;  ///< its outputs are those that the caller gets, in the signature's order
  std::vector<Guard> guards;
  std::string made_by;  ///< "PyTorch 2.15.0"; empty: the file does not say

  /// Of weights, buffers and constants. Throws LoadError when it is not there.
  const at::Tensor& tensor(const std::string& name) const;
};

/// Throws LoadError.
ReadProgram read_program(const std::string& path);

}  // namespace backend
