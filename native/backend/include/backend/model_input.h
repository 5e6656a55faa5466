// Inputs of our models: texts, tokens and signals, and their form after tokenization.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/input.h"

namespace backend {

/// Text of a pair that is truncated if the pair is too long, as in transformers. kNone: an input
/// that is too long is an error.
enum class Truncation { kLongestFirst, kOnlyFirst, kOnlySecond, kNone };

/// Side from which tokens are removed. kOfTokenizer: the tokenizer's own setting.
enum class TruncationSide { kOfTokenizer, kRight, kLeft };

/// Maximum number of values in the outputs of all inputs of one request. The inputs share it.
struct OutputBudget {
  explicit OutputBudget(int64_t limit_) : limit(limit_), left(limit_) {}

  /// Subtracts `values`. Returns false if fewer are left. Any thread.
  bool take(int64_t values) { return left.fetch_sub(values) >= values; }

  const int64_t limit;
  std::atomic<int64_t> left;
};

/// Embeddings that an input requests from a model with several. bge-m3 returns them in one row, one
/// after the other:
///   dense: [hidden]
///   sparse: the number of entries, then id and weight of each. Rows on the skiplist have none
///   colbert: [tokens − 1, hidden]: all tokens except the first
/// Masked language models return one of them:
///   dense: [hidden], the mean of the hidden states; sparse: [vocabulary]
struct EmbeddingParts {
  bool dense = true, sparse = false, colbert = false;
};

/// A text or a text pair (premise and hypothesis), UTF-8, with its truncation.
struct TextInput {
  std::string text;
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::string pair{};  ///< second text; empty: a single text unless is_pair is set
  Truncation truncation = Truncation::kLongestFirst;
  TruncationSide side = TruncationSide::kOfTokenizer;
  bool is_pair = false;  ///< the input is a pair even if the second text is empty
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::string prompt{};       ///< prefix of the text that pooling excludes; empty: none
  bool with_offsets = false;  ///< the response contains the tokens and their offsets in the text
  /// Returns the whole text as overlapping windows of `stride` shared tokens instead of truncating
  /// it. Requires with_offsets.
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<int64_t> stride{};
  /// Maximum number of windows; further windows are dropped. 0: all windows, and too many are an
  /// error.
  size_t max_windows = 0;
  size_t max_tokens = 0;        ///< special tokens included; 0: the tokenizer's own limit
  bool expand_query = false;    ///< pads the query as LateInteraction specifies (ColBERT)
  bool apply_skiplist = false;  ///< omits the rows of tokens on the skiplist of LateInteraction
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<EmbeddingParts> parts{};  ///< null: the head's default
  /// Late chunking: `text` consists of several chunks, each with a row of its own. End of each
  /// chunk in bytes, ascending; empty: one row for the text.
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<size_t> chunk_ends{};
  /// Index of the task whose LoRA update applies; null: TaskAdapters::default_task.
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<int64_t> adapter_task{};
  /// The response is the tokens of the whole text, without a limit, and their offsets in UTF-8
  /// bytes. The model is not run. Other options except `text` have no effect.
  bool only_tokens = false;
  bool omit_special_tokens = false;  ///< with only_tokens: the tokenizer adds no special tokens
  bool by_words = false;             ///< with only_tokens: the words of gliner2, tokenized alone
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::shared_ptr<OutputBudget> budget{};  ///< null: the output size is not limited
};

/// Token ids of an already tokenized text, special tokens included.
struct TokenInput {
  std::vector<int64_t> ids;
  std::vector<int64_t> types;   ///< token types, one for each id
  bool apply_skiplist = false;  ///< see TextInput
  /// Positions of the tokens that stand for the options of a question, ascending. Only heads of
  /// decision models read markers, and they need at least one.
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<size_t> markers{};
  size_t question_type = 0;  ///< index of the question's type, for decision models
  /// Position after the last option if the options are alternatives: they begin at the same
  /// position and do not attend to each other. Each option begins with a marker. 0: the options
  /// follow each other.
  size_t options_end = 0;
  bool truncated = false;  ///< tokens were removed to fit the model's limit
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<EmbeddingParts> parts{};  ///< see TextInput
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<int64_t> adapter_task{};  ///< see TextInput
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::shared_ptr<OutputBudget> budget{};  ///< null: the output size is not limited
};

/// A text, and labels of the entities to find in it (GLiNER, GLiNER2).
struct EntityInput {
  std::string text;
  std::vector<std::string> labels;  ///< at least one
  float threshold = 0;              ///< lowest score of a span that is returned; GLiNER excludes it
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::string task{};  ///< prompt before the labels, only for GLiNER2
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::shared_ptr<OutputBudget> budget{};  ///< null: the output size is not limited
};

/// Texts of a list as one input, for models that take less time for a text than a request does: the
/// encoder is a table, so the texts do not depend on each other.
struct TextList {
  std::string text;  ///< the texts, one after the other
  std::vector<size_t>
      ends;  ///< end of each text in bytes, ascending; the last is the end of `text`
  Truncation truncation = Truncation::kLongestFirst;
  TruncationSide side = TruncationSide::kOfTokenizer;
};

/// Samples of one window of a signal.
using Samples = std::vector<float>;

using ModelInput = std::variant<TextInput, Samples, TokenInput, EntityInput, TextList>;

/// A ModelInput as the scheduler transports it.
class Input final : public scheduler::Input {
 public:
  explicit Input(ModelInput input) : content(std::move(input)) {}
  size_t bytes() const override;
  size_t count() const override;

  ModelInput content;
};

/// Tokens of a text with their offsets in the text, window by window.
struct EncodingWithOffsets {
  TokenInput tokens;
  /// [tokens, 2]: start and end in the text, in UTF-16 code units; in bytes for `only_tokens`.
  std::vector<uint32_t> offsets;
  std::vector<uint8_t> texts;  ///< [tokens]: 0: special token, 1: token of the text, 2: of the pair
  std::vector<size_t> lengths;  ///< [windows]: number of tokens
};

/// Words of a text, and the windows of words that a model reads at once.
struct WordWindows {
  std::vector<uint32_t> offsets;  ///< [words, 2]: start and end in the text, in UTF-16 code units
  std::vector<uint32_t> starts;   ///< [windows]: first word
  std::vector<uint32_t> lengths;  ///< [windows]: number of words
};

/// Ids of the tokens of a label, for a label encoder.
using LabelIds = std::vector<int64_t>;

/// Tokens that stand for the labels and words of an EntityInput.
struct EntityRows {
  /// [labels], token whose hidden state represents the label; empty: a label encoder reads
  /// label_ids
  std::vector<int64_t> labels;
  std::vector<LabelIds> label_ids;  ///< [labels]; empty: the prompt contains the labels
  std::vector<int64_t> words;       ///< [words], first token of each word
  float threshold = 0;              ///< see EntityInput
  int64_t task = -1;                ///< token that stands for the task; -1: none
};

/// An input as the model reads it. A text has ids and types, a signal has samples.
struct Sequence {
  std::vector<int64_t> input_ids;       ///< [tokens], special tokens included
  std::vector<int64_t> token_type_ids;  ///< [tokens]
  Samples samples;                      ///< [window length]
  bool truncated = false;               ///< the text was longer than the model's limit
  size_t prompt_tokens = 0;             ///< leading tokens that pooling may exclude
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<EmbeddingParts> parts{};  ///< null: the head's default
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::optional<int64_t> adapter_task{};  ///< task whose LoRA update applies; null: none
  /// Trailing expansion tokens that attend to the others, but that no token attends to (ColBERT).
  size_t unattended_expansion_tokens = 0;
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<size_t> skiplist_rows{};  ///< tokens, ascending, whose rows the output omits
  /// Late chunking: end of each chunk in tokens, ascending, the last is the end of the sequence;
  /// empty: pooling returns one row.
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<size_t> chunk_ends{};
  /// TextList: whether each text was truncated. chunk_ends are the ends of the texts. Empty:
  /// another input.
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<bool> truncated_texts{};
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::shared_ptr<const EncodingWithOffsets> encoding{};  ///< null: offsets were not requested
  bool only_tokens = false;  ///< the tokens are the response; the model is not run
  bool is_warm_up = false;   ///< measures the model's speed
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<size_t> markers{};  ///< see TokenInput
  size_t question_type = 0;       ///< see TokenInput
  size_t options_end = 0;         ///< see TokenInput
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::shared_ptr<const EntityRows> entities{};  ///< null: another input than EntityInput
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::shared_ptr<const WordWindows> words{};  ///< null: another input than EntityInput

  /// True if the model is not run. The tokens are the response: the client requested only tokens,
  /// or the text is longer than one window.
  bool is_response() const { return only_tokens || (encoding && encoding->lengths.size() > 1); }
};

/// The sequences of one run, in any order of lengths. Does not own them.
using Batch = std::span<const Sequence* const>;

/// A Sequence as the scheduler transports it.
class PreparedSequence final : public scheduler::PreparedInput {
 public:
  explicit PreparedSequence(Sequence from) : sequence(std::move(from)) {}
  /// Tokens of the text and of the labels of a label encoder, whether these are cached or not: the
  /// number of tokens of an input does not depend on earlier ones.
  size_t cost() const override;
  bool is_truncated() const override { return sequence.truncated; }
  bool needs_run() const override { return !sequence.is_response(); }
  void add_to(scheduler::SipHash128& hash) const override;

  const Sequence sequence;
};

}  // namespace backend
