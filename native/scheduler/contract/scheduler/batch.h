// What travels from a caller to a model: the input as it came, and as the model reads it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace scheduler {

/// Of which text tokens are taken away where there are too many; as in transformers. kNone: what is
/// too long is an error.
enum class Truncation { kLongestFirst, kOnlyFirst, kOnlySecond, kNone };

/// From which end; kOfTokenizer: as the tokenizer's own settings say.
enum class TruncationSide { kOfTokenizer, kRight, kLeft };

/// Numbers that the answers to all inputs of a list may have together. Shared by the inputs.
struct OutputBudget {
  explicit OutputBudget(int64_t limit_) : limit(limit_), left(limit_) {}

  /// False: more than are left.
  bool take(int64_t numbers) { return left.fetch_sub(numbers) >= numbers; }

  const int64_t limit;
  std::atomic<int64_t> left;
};

/// One text or two (premise and hypothesis), UTF-8, and how they are cut.
struct Text {
  std::string text;
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::string pair{};  ///< empty: there is one text
  Truncation truncation = Truncation::kLongestFirst;
  TruncationSide side = TruncationSide::kOfTokenizer;
  bool is_pair = false;  ///< there are two, though the second is empty
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::string prompt{};  ///< with what the text begins, where a pooling leaves it out
  bool places = false;   ///< where its tokens are in it is part of the answer
  /// Not what fits is read, but all of it, in windows that share so many tokens; with `places`.
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::optional<int64_t> stride{};
  /// Windows that are read, the others are left out; 0: all, and too many of them are an error.
  size_t most_windows = 0;
  size_t most = 0;  ///< tokens, special ones included, whatever the tokenizer says; 0: as it says
  bool fills = false;  ///< filled up with tokens as the model's LateInteraction says
  bool skips = false;  ///< without the rows of the tokens that it lists
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::shared_ptr<OutputBudget> budget{};  ///< of an answer with a row for each token; null: none
};

/// What a tokenizer has made of a text, special tokens included.
struct Tokens {
  std::vector<int64_t> ids;
  std::vector<int64_t> types;  ///< as many
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::shared_ptr<OutputBudget> budget{};  ///< see Text
};

/// What a text model reads, or the samples of one window.
using Input = std::variant<Text, std::vector<float>, Tokens>;

/// The tokens of texts and their places, window by window.
struct TokenPlaces {
  Tokens tokens;
  std::vector<uint32_t> offsets;  ///< [tokens, 2]: begin and end in the text, in UTF-16 units
  std::vector<uint8_t> texts;     ///< [tokens]: 0: a special token, 1: of the text, 2: of the pair
  std::vector<size_t> lengths;    ///< tokens of each window
};

/// One request as the model reads it. A text model fills the ids, a signal model the samples.
struct Sequence {
  std::vector<int64_t> input_ids;       ///< [tokens], special tokens included
  std::vector<int64_t> token_type_ids;  ///< [tokens]
  std::vector<float> samples;           ///< [window length]
  bool truncated = false;               ///< the texts were longer than the model's limit
  size_t prompt_tokens = 0;             ///< of the first ones, which a pooling may leave out
  size_t unseen_tokens = 0;             ///< of the last ones, which see others and are seen by none
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::vector<size_t> left_out{};  ///< tokens, in order, whose rows are no part of the answer
  // NOLINTNEXTLINE(readability-redundant-member-init): it may be left out without a warning
  std::shared_ptr<const TokenPlaces> places{};  ///< where they were asked for

  /// The text is longer than a window: what they are is the answer, and nothing is run.
  bool is_only_cut() const { return places && places->lengths.size() > 1; }

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

}  // namespace scheduler
