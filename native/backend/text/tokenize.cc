#include "text/tokenize.h"

#include <string>

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

}  // namespace

engine::Sequence tokenize(const hf::Tokenizer& tokenizer, const engine::Text& text) {
  try {
    const hf::Encoding encoding = tokenizer.encode({.text = hf::bytes(text.text),
                                                    .pair = hf::bytes(text.pair),
                                                    .truncation = truncation_of(text.truncation),
                                                    .side = side_of(text.side)});
    if (!encoding.too_long.empty()) throw engine::InputTooLong(std::string(encoding.too_long));
    return {.input_ids = {encoding.input_ids.begin(), encoding.input_ids.end()},
            .token_type_ids = {encoding.token_type_ids.begin(), encoding.token_type_ids.end()},
            .samples = {},
            .truncated = encoding.truncated};
  } catch (const rust::Error& error) {
    throw engine::BackendError(error.what());
  }
}

}  // namespace backend
