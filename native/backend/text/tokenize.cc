#include "text/tokenize.h"

#include <utility>

#include "engine/backend.h"

namespace backend {
namespace {

hf::Truncation truncation_of(engine::Truncation truncation) {
  switch (truncation) {
    case engine::Truncation::kLongestFirst:
      return hf::Truncation::kLongestFirst;
    case engine::Truncation::kOnlyFirst:
      return hf::Truncation::kOnlyFirst;
    case engine::Truncation::kOnlySecond:
      return hf::Truncation::kOnlySecond;
    case engine::Truncation::kNone:
      return hf::Truncation::kDoNotTruncate;
  }
  return hf::Truncation::kLongestFirst;
}

hf::TruncationSide side_of(engine::TruncationSide side) {
  switch (side) {
    case engine::TruncationSide::kOfTokenizer:
      return hf::TruncationSide::kOfTokenizer;
    case engine::TruncationSide::kRight:
      return hf::TruncationSide::kRight;
    case engine::TruncationSide::kLeft:
      return hf::TruncationSide::kLeft;
  }
  return hf::TruncationSide::kOfTokenizer;
}

}  // namespace

engine::Sequence tokenize(const hf::Tokenizer& tokenizer, const engine::Text& text) {
  try {
    hf::Encoding encoding = tokenizer.encode({.text = text.text,
                                              .pair = text.pair,
                                              .truncation = truncation_of(text.truncation),
                                              .side = side_of(text.side)});
    return {.input_ids = std::move(encoding.input_ids),
            .token_type_ids = std::move(encoding.token_type_ids),
            .samples = {},
            .truncated = encoding.truncated};
  } catch (const hf::TooLong& error) {
    throw engine::InputTooLong(error.what());
  } catch (const hf::Error& error) {
    throw engine::BackendError(error.what());
  }
}

}  // namespace backend
