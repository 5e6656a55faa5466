#pragma once

#include <cstddef>
#include <optional>

namespace backend {

/// How texts are read, where the tokenizer's own files do not specify it.
struct TextReading {
  /// Tokens, special ones included, in place of the tokenizer's own limit.
  std::optional<size_t> max_length;
  bool lowercases = false;  ///< before all else; special tokens in a text stay what they are
};

}  // namespace backend
