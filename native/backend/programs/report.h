// Descriptions of programs, in words and for inspect_program().
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backend/inspect.h"
#include "programs/program.h"

namespace backend {

/// Removes a minimum of 2: torch.export writes it for dynamic dimensions (0/1 specialization), but
/// PyTorch accepts smaller sizes (torch/_export/utils.py, _check_input_constraints_for_graph).
DimRange without_01_specialization(DimRange range);

/// "8", "1 to 512", "3 and more", "any number".
std::string describe(const DimRange& range);

/// "[1 to 64, 1, 256]"
std::string describe(std::span<const DimRange> sizes);

/// "2 inputs (signal, age)"
std::string describe(const std::vector<ProgramInput>& inputs);

/// Warning for a program with a fixed batch size, with the cost and the fix.
std::string fixed_number_warning(const std::string& file, int64_t number, const std::string& thing);

/// Type and sizes in words: "float32", "[1 to 64, 1, 256]"; empty if the file does not specify
/// them.
ValueReport described(const ProgramInput& input);

/// Counts parameters. Tensors with shared memory count once.
class WeightCount {
 public:
  void add(const at::Tensor& tensor);
  void write_to(ProgramReport& report) const;

 private:
  std::set<const void*> seen_;
  uint64_t numbers_ = 0;
  uint64_t bytes_ = 0;
  std::set<std::string> types_;
};

}  // namespace backend
