// What a program says of its inputs, as those who fill them read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.h"

namespace backend {

/// Without the least that binds nothing: torch.export writes 2 where a dimension is dynamic, and
/// PyTorch itself takes less (torch/_export/utils.py, _check_input_constraints_for_graph).
Extent as_meant(Extent extent);

/// "8", "1 to 512", "3 and more", "any number".
std::string words_for(const Extent& extent);

/// "2 inputs (signal, age)"
std::string words_for(const std::vector<ProgramInput>& inputs);

/// For the log: what it costs that a file takes exactly so many of `things` in a run, and what to
/// do about it.
std::string fixed_number_warning(const std::string& file, int64_t number, const std::string& thing);

}  // namespace backend
