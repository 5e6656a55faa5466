// The inputs of a text model.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>
#include <vector>

#include "program/program.h"

namespace backend {

enum class TextRole { kInputIds, kAttentionMask, kTokenTypeIds };

/// One of them, [texts, length].
struct TextTensor {
  TextRole role;
  c10::ScalarType type;  ///< int64 or int32; of an attention mask any
};

struct TextInputs {
  std::vector<TextTensor> in_order;
  DimRange texts;           ///< that a run takes
  DimRange length;          ///< tokens of each
  bool says_sizes = false;  ///< the file says these

  bool has(TextRole role) const;
};

/// By their names; where those say nothing, by their order. Throws LoadError naming `file`.
TextInputs text_inputs_of(const std::vector<ProgramInput>& inputs, const std::string& file);

}  // namespace backend
