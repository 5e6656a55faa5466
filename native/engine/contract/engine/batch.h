// What travels from a caller to a model: the input as it came, and as the model reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace engine {

/// Of which text tokens are taken away where there are too many; as in transformers. kNone: what is
/// too long is an error.
enum class Truncation { kLongestFirst, kOnlyFirst, kOnlySecond, kNone };

/// From which end; kOfTokenizer: as the tokenizer's own settings say.
enum class TruncationSide { kOfTokenizer, kRight, kLeft };

/// One text or two (premise and hypothesis), UTF-8, and how they are cut.
struct Text {
  std::string text;
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::string pair{};  ///< empty: there is one text
  Truncation truncation = Truncation::kLongestFirst;
  TruncationSide side = TruncationSide::kOfTokenizer;
};

/// What a text model reads, or the samples of one window.
using Input = std::variant<Text, std::vector<float>>;

/// One request as the model reads it. A text model fills the ids, a signal model the samples.
struct Sequence {
  std::vector<int64_t> input_ids;       ///< [tokens], special tokens included
  std::vector<int64_t> token_type_ids;  ///< [tokens]
  std::vector<float> samples;           ///< [window length]
  bool truncated = false;               ///< the texts were longer than the model's limit

  /// What it costs in a batch: tokens, or 1 for a window.
  size_t cost() const { return input_ids.empty() ? 1 : input_ids.size(); }
};

/// The requests that one worker runs together, in any order of lengths. Not owning.
using Batch = std::span<const Sequence* const>;

/// What one request is answered with: [rows, columns]. One row (logits, or a vector), or one for
/// each token.
struct Output {
  std::vector<float> values;  ///< row by row
  size_t rows = 1;

  bool operator==(const Output&) const = default;
};

}  // namespace engine
