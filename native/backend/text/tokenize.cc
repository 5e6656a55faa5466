#include "text/tokenize.h"

#include <string>
#include <utility>

#include "common/error.h"
#include "scheduler/backend.h"

namespace backend {
namespace {

/// Converts to the enumeration of the tokenizers crate, whose values are equal.
tokenizers::Truncation truncation_of(Truncation truncation) {
  using enum Truncation;
  static_assert(static_cast<tokenizers::Truncation>(kLongestFirst) ==
                tokenizers::Truncation::LongestFirst);
  static_assert(static_cast<tokenizers::Truncation>(kOnlyFirst) ==
                tokenizers::Truncation::OnlyFirst);
  static_assert(static_cast<tokenizers::Truncation>(kOnlySecond) ==
                tokenizers::Truncation::OnlySecond);
  static_assert(static_cast<tokenizers::Truncation>(kNone) ==
                tokenizers::Truncation::DoNotTruncate);
  return static_cast<tokenizers::Truncation>(truncation);
}

tokenizers::TruncationSide side_of(TruncationSide side) {
  using enum TruncationSide;
  static_assert(static_cast<tokenizers::TruncationSide>(kOfTokenizer) ==
                tokenizers::TruncationSide::TokenizerDefault);
  static_assert(static_cast<tokenizers::TruncationSide>(kRight) ==
                tokenizers::TruncationSide::Right);
  static_assert(static_cast<tokenizers::TruncationSide>(kLeft) == tokenizers::TruncationSide::Left);
  return static_cast<tokenizers::TruncationSide>(side);
}

std::vector<int64_t> copy(const rust::Vec<int64_t>& values) {
  return {values.begin(), values.end()};
}

rust::Vec<rust::String> copy(const std::vector<std::string>& texts) {
  rust::Vec<rust::String> copies;
  copies.reserve(texts.size());
  for (const std::string& text : texts) copies.push_back(rust::String::lossy(text));
  return copies;
}

tokenizers::Encoding encode(const tokenizers::Tokenizer& tokenizer,
                            const tokenizers::Input& input) {
  tokenizers::Encoding encoding = tokenizer.encode(input);
  if (!encoding.too_long.empty()) throw scheduler::InputTooLong(std::string(encoding.too_long));
  return encoding;
}

Sequence to_sequence(const tokenizers::Encoding& encoding) {
  return {.input_ids = copy(encoding.input_ids),
          .token_type_ids = copy(encoding.token_type_ids),
          .samples = {},
          .truncated = encoding.truncated};
}

EncodingWithOffsets copy(const tokenizers::EncodingWithOffsets& from_rust) {
  return {
      .tokens = {.ids = copy(from_rust.input_ids), .types = copy(from_rust.token_type_ids)},
      .offsets = {from_rust.offsets.begin(), from_rust.offsets.end()},
      .texts = {from_rust.sequence_ids.begin(), from_rust.sequence_ids.end()},
      .lengths = {from_rust.window_lengths.begin(), from_rust.window_lengths.end()},
  };
}

Sequence encode_with_offsets(const tokenizers::Tokenizer& tokenizer, const tokenizers::Input& input,
                             const TextInput& text) {
  const tokenizers::EncodingWithOffsets from_rust =
      tokenizer.encode_with_offsets(input, text.stride.value_or(-1), text.max_windows);
  if (!from_rust.too_long.empty()) throw scheduler::InputTooLong(std::string(from_rust.too_long));
  EncodingWithOffsets encoding = copy(from_rust);
  Sequence sequence{
      .input_ids = {}, .token_type_ids = {}, .samples = {}, .truncated = from_rust.truncated};
  if (encoding.lengths.size() == 1) {
    sequence.input_ids = encoding.tokens.ids;
    sequence.token_type_ids = encoding.tokens.types;
  }
  sequence.encoding = std::make_shared<const EncodingWithOffsets>(std::move(encoding));
  return sequence;
}

Sequence encode_whole_text(const tokenizers::Tokenizer& tokenizer, const TextInput& text) {
  const auto bytes = tokenizers::bytes(text.text);
  EncodingWithOffsets encoding =
      copy(text.by_words ? tokenizer.encode_text_by_words(bytes)
                         : tokenizer.encode_whole_text(bytes, !text.omit_special_tokens));
  Sequence sequence{.input_ids = encoding.tokens.ids, .token_type_ids = {}, .samples = {}};
  sequence.encoding = std::make_shared<const EncodingWithOffsets>(std::move(encoding));
  sequence.only_tokens = true;
  return sequence;
}

/// Throws BackendError if the markers are not ascending positions below `length`.
void require_positions(const std::vector<size_t>& markers, size_t length) {
  for (size_t i = 0; i < markers.size(); ++i) {
    if (markers[i] < length && (i == 0 || markers[i - 1] < markers[i])) continue;
    throw scheduler::BackendError(
        "markers[" + std::to_string(i) + "]: expected ascending positions below " +
        std::to_string(length) + ", received " + std::to_string(markers[i]));
  }
}

/// Throws BackendError if the options end before the last marker or after the sequence.
void require_options_end(const TokenInput& tokens) {
  const size_t end = tokens.options_end, length = tokens.ids.size();
  if (end == 0 || (!tokens.markers.empty() && end > tokens.markers.back() && end <= length)) return;
  throw scheduler::BackendError("optionsEnd: expected a position after the last marker, up to " +
                                std::to_string(length) + ", received " + std::to_string(end));
}

Sequence take(const tokenizers::Tokenizer& tokenizer, TokenInput tokens) {
  const size_t most = tokenizer.max_length();
  if (tokens.ids.size() > most) {
    throw scheduler::InputTooLong("There are " + std::to_string(tokens.ids.size()) +
                                  " tokens, the model takes " + std::to_string(most) + ".");
  }
  require_positions(tokens.markers, tokens.ids.size());
  require_options_end(tokens);
  Sequence sequence{.input_ids = std::move(tokens.ids),
                    .token_type_ids = std::move(tokens.types),
                    .samples = {},
                    .truncated = tokens.truncated};
  sequence.markers = std::move(tokens.markers);
  sequence.question_type = tokens.question_type;
  sequence.options_end = tokens.options_end;
  return sequence;
}

}  // namespace

Sequence tokenize(const tokenizers::Tokenizer& tokenizer, ModelInput input) {
  if (auto* const tokens = std::get_if<TokenInput>(&input)) {
    return take(tokenizer, std::move(*tokens));
  }
  const auto& text = std::get<TextInput>(input);
  const tokenizers::Input given{.text = tokenizers::bytes(text.text),
                                .pair = tokenizers::bytes(text.pair),
                                .truncation = truncation_of(text.truncation),
                                .side = side_of(text.side),
                                .is_pair = text.is_pair,
                                .max_tokens = text.max_tokens};
  try {
    if (text.only_tokens) return encode_whole_text(tokenizer, text);
    return text.with_offsets ? encode_with_offsets(tokenizer, given, text)
                             : to_sequence(encode(tokenizer, given));
  } catch (const rust::Error& error) {
    throw scheduler::BackendError(error.what());
  }
}

tokenizers::Encoding encode(const tokenizers::Tokenizer& tokenizer, std::string_view text,
                            Truncation truncation, TruncationSide side) {
  try {
    return encode(tokenizer, {.text = tokenizers::bytes(text),
                              .pair = {},
                              .truncation = truncation_of(truncation),
                              .side = side_of(side),
                              .is_pair = false,
                              .max_tokens = 0});
  } catch (const rust::Error& error) {
    throw scheduler::BackendError(error.what());
  }
}

void apply_options(tokenizers::Tokenizer& tokenizer, const TokenizationOptions& options) {
  if (options.lowercase) tokenizer.lowercase();
  if (const auto& frame = options.frame) {
    tokenizer.set_frame({.before = copy(frame->before),
                         .between = copy(frame->between),
                         .after = copy(frame->after),
                         .kept_end = copy(frame->kept_end),
                         .max_length = frame->max_length,
                         .times_before = frame->times_before,
                         .times_after = frame->times_after});
  }
  if (options.max_length) tokenizer.set_max_length(*options.max_length);
}

void require_tokens(const tokenizers::Tokenizer& tokenizer,
                    const std::vector<RequiredToken>& required) {
  for (const auto& [text, id] : required) {
    const int64_t found = tokenizer.token_to_id(text);
    if (found < 0) {
      throw common::LoadError("the tokenizer has no token " + text +
                              ", which the inputs of the model contain");
    }
    if (!id || *id == found) continue;
    throw common::LoadError("the token " + text + " has the id " + std::to_string(found) +
                            " in the tokenizer, and " + std::to_string(*id) +
                            " in the configuration of the model");
  }
}

std::string TokenizerVocabulary::token(uint32_t id) const {
  return std::string(tokenizer_.id_to_token(id));
}

std::string TokenizerVocabulary::join(const std::vector<std::string>& tokens) const {
  try {
    return std::string(tokenizer_.convert_tokens_to_string(copy(tokens)));
  } catch (const rust::Error& error) {
    throw scheduler::BackendError(error.what());
  }
}

std::string TokenizerVocabulary::decode(const std::vector<uint32_t>& ids,
                                        bool skip_special_tokens) const {
  try {
    return std::string(tokenizer_.decode({ids.data(), ids.size()}, skip_special_tokens));
  } catch (const rust::Error& error) {
    throw scheduler::BackendError(error.what());
  }
}

std::optional<size_t> TokenizerVocabulary::find_unknown_id(const std::vector<uint32_t>& ids) const {
  const int64_t index = tokenizer_.find_unknown_id({ids.data(), ids.size()});
  return index < 0 ? std::nullopt : std::optional(static_cast<size_t>(index));
}

std::optional<uint32_t> TokenizerVocabulary::unknown_id() const {
  const int64_t id = tokenizer_.unk_token_id();
  return id < 0 ? std::nullopt : std::optional(static_cast<uint32_t>(id));
}

}  // namespace backend
