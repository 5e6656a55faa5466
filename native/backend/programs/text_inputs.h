// Inputs of a text program.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>
#include <vector>

#include "programs/program.h"

namespace backend {

enum class TextRole { kInputIds, kAttentionMask, kTokenTypeIds };

/// An input tensor, [texts, length].
struct TextTensor {
  TextRole role;
  c10::ScalarType type;  ///< int64 or int32; attention mask: also bool or floating point
};

struct TextInputs {
  std::vector<TextTensor> in_order;
  DimRange texts;          ///< texts of a run
  DimRange length;         ///< tokens of each text
  bool has_sizes = false;  ///< the file specifies these ranges

  bool has(TextRole role) const;
};

/// Identifies inputs by name, or by order if the names are unknown. Throws LoadError with `file`.
TextInputs text_inputs_of(const std::vector<ProgramInput>& inputs, const std::string& file);

}  // namespace backend
