#include "text/tokenize.h"

#include <string>
#include <utility>

#include "engine/backend.h"

namespace backend {
namespace {

/// The same in the words of the tokenizers.
hf::Truncation truncation_of(engine::Truncation truncation) {
  using enum engine::Truncation;
  static_assert(static_cast<hf::Truncation>(kLongestFirst) == hf::Truncation::LongestFirst);
  static_assert(static_cast<hf::Truncation>(kOnlyFirst) == hf::Truncation::OnlyFirst);
  static_assert(static_cast<hf::Truncation>(kOnlySecond) == hf::Truncation::OnlySecond);
  static_assert(static_cast<hf::Truncation>(kNone) == hf::Truncation::DoNotTruncate);
  return static_cast<hf::Truncation>(truncation);
}

hf::TruncationSide side_of(engine::TruncationSide side) {
  using enum engine::TruncationSide;
  static_assert(static_cast<hf::TruncationSide>(kOfTokenizer) == hf::TruncationSide::OfTokenizer);
  static_assert(static_cast<hf::TruncationSide>(kRight) == hf::TruncationSide::Right);
  static_assert(static_cast<hf::TruncationSide>(kLeft) == hf::TruncationSide::Left);
  return static_cast<hf::TruncationSide>(side);
}

std::vector<int64_t> copy(const rust::Vec<int64_t>& values) {
  return {values.begin(), values.end()};
}

engine::Sequence encode(const hf::Tokenizer& tokenizer, const hf::Input& input) {
  const hf::Encoding encoding = tokenizer.encode(input);
  if (!encoding.too_long.empty()) throw engine::InputTooLong(std::string(encoding.too_long));
  return {.input_ids = copy(encoding.input_ids),
          .token_type_ids = copy(encoding.token_type_ids),
          .samples = {},
          .truncated = encoding.truncated};
}

engine::Sequence locate(const hf::Tokenizer& tokenizer, const hf::Input& input,
                        const engine::Text& text) {
  const hf::Located located = tokenizer.locate(input, text.stride.value_or(-1), text.most_windows);
  if (!located.too_long.empty()) throw engine::InputTooLong(std::string(located.too_long));
  engine::TokenPlaces places{
      .tokens = {.ids = copy(located.ids), .types = copy(located.types)},
      .offsets = {located.offsets.begin(), located.offsets.end()},
      .texts = {located.texts.begin(), located.texts.end()},
      .lengths = {located.lengths.begin(), located.lengths.end()},
  };
  engine::Sequence sequence{
      .input_ids = {}, .token_type_ids = {}, .samples = {}, .truncated = located.truncated};
  if (places.lengths.size() == 1) {
    sequence.input_ids = places.tokens.ids;
    sequence.token_type_ids = places.tokens.types;
  }
  sequence.places = std::make_shared<const engine::TokenPlaces>(std::move(places));
  return sequence;
}

engine::Sequence take(const hf::Tokenizer& tokenizer, engine::Tokens tokens) {
  const size_t most = tokenizer.max_length();
  if (tokens.ids.size() > most) {
    throw engine::InputTooLong("There are " + std::to_string(tokens.ids.size()) +
                               " tokens, the model takes " + std::to_string(most) + ".");
  }
  return {
      .input_ids = std::move(tokens.ids), .token_type_ids = std::move(tokens.types), .samples = {}};
}

}  // namespace

engine::Sequence tokenize(const hf::Tokenizer& tokenizer, engine::Input input) {
  if (auto* const tokens = std::get_if<engine::Tokens>(&input)) {
    return take(tokenizer, std::move(*tokens));
  }
  const auto& text = std::get<engine::Text>(input);
  const hf::Input given{.text = hf::bytes(text.text),
                        .pair = hf::bytes(text.pair),
                        .truncation = truncation_of(text.truncation),
                        .side = side_of(text.side),
                        .is_pair = text.is_pair,
                        .most = text.most};
  try {
    return text.places ? locate(tokenizer, given, text) : encode(tokenizer, given);
  } catch (const rust::Error& error) {
    throw engine::BackendError(error.what());
  }
}

void set_reading(hf::Tokenizer& tokenizer, const TextReading& reading) {
  if (reading.lowercases) tokenizer.lowercase();
  if (reading.max_length) tokenizer.set_max_length(*reading.max_length);
}

}  // namespace backend
