// What a model file holds, without running any of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace backend {

/// In words: "float32", "[1 to 64, 1, 256]"; empty where the file does not say.
struct ValueReport {
  std::string name;
  std::string type;
  std::string sizes;
};

struct OperatorReport {
  std::string name;
  size_t count = 0;     ///< how often it stands in the code
  std::string problem;  ///< why a model that uses it is not loaded; empty: it may be used
};

struct ProgramReport {
  std::string kind;     ///< "torchscript", "exported"
  std::string made_by;  ///< "PyTorch 2.15.0"; empty where the file does not say
  std::vector<ValueReport> inputs;
  std::vector<std::string> outputs;  ///< names; empty where the file does not say
  uint64_t weight_count = 0;         ///< numbers; what is tied counts once
  uint64_t weight_bytes = 0;
  std::vector<std::string> weight_types;
  std::vector<OperatorReport> operators;  ///< by name
};

/// Of a TorchScript file, or one of torch.export (`.pt2`). Throws LoadError for what cannot even be
/// read; an operator that is refused is none.
ProgramReport inspect_program(const std::string& path,
                              const std::set<std::string>& allowed_operators);

}  // namespace backend
