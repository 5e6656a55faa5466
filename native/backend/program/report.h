// What a program's file says, for people and for those who fill its inputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "backend/inspect.h"
#include "program/program.h"

namespace backend {

/// Without the least that binds nothing: torch.export writes 2 where a dimension is dynamic, and
/// PyTorch itself takes less (torch/_export/utils.py, _check_input_constraints_for_graph).
DimRange as_meant(DimRange range);

/// "8", "1 to 512", "3 and more", "any number".
std::string words_for(const DimRange& range);

/// "[1 to 64, 1, 256]"
std::string words_for(std::span<const DimRange> sizes);

/// "2 inputs (signal, age)"
std::string words_for(const std::vector<ProgramInput>& inputs);

/// For the log: what it costs that a file takes exactly so many of `things` in a run, and what to
/// do about it.
std::string fixed_number_warning(const std::string& file, int64_t number, const std::string& thing);

/// Type and sizes in words: "float32", "[1 to 64, 1, 256]"; empty where the file does not say.
ValueReport described(const ProgramInput& input);

/// Counts a tensor; those that share its memory count once.
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
