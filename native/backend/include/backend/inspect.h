// Contents of a program file, read without running it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace backend {

/// In words: "float32", "[1 to 64, 1, 256]"; empty if the file does not specify it.
struct ValueReport {
  std::string name;
  std::string type;
  std::string sizes;
};

struct OperatorReport {
  std::string name;
  size_t count = 0;     ///< occurrences in the code
  std::string problem;  ///< why models with this operator are rejected; empty: it is allowed
};

struct ProgramReport {
  std::string kind;     ///< "torchscript" or "exported"
  std::string made_by;  ///< "PyTorch 2.15.0"; empty if the file does not specify it
  std::vector<ValueReport> inputs;
  std::vector<std::string> outputs;  ///< names; empty if the file does not specify them
  uint64_t weight_count = 0;         ///< number of parameters; tied weights count once
  uint64_t weight_bytes = 0;
  std::vector<std::string> weight_types;
  std::vector<OperatorReport> operators;  ///< sorted by name
};

/// Inspects a TorchScript file or a file of torch.export (`.pt2`). Throws LoadError if it cannot be
/// read. Operators that are not allowed are reported, not thrown.
ProgramReport inspect_program(const std::string& path,
                              const std::set<std::string>& allowed_operators);

}  // namespace backend
