// Which of its inputs a text model takes for what.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace backend {

/// Each int64 [batch, length].
enum class TextInput { kInputIds, kAttentionMask, kTokenTypeIds };

/// By their names; where those say nothing, by their order. Throws LoadError naming `file`.
std::vector<TextInput> text_inputs_of(const std::vector<ProgramInput>& inputs,
                                      const std::string& file);

}  // namespace backend
