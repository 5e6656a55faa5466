#include "text/chunks.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "scheduler/backend.h"

namespace backend {
namespace {

/// Tokens of the text: [first, last). Special tokens are before and after.
struct TextRange {
  size_t first;
  size_t last;
};

TextRange text_range(const tokenizers::EncodingWithOffsets& encoding) {
  const auto is_text = [&](size_t token) { return encoding.sequence_ids[token] != 0; };
  TextRange range{0, encoding.sequence_ids.size()};
  while (range.first < range.last && !is_text(range.first)) ++range.first;
  while (range.last > range.first && !is_text(range.last - 1)) --range.last;
  return range;
}

/// Number of tokens of the text to remove. Throws InputTooLong if none may be removed.
size_t excess_tokens(size_t tokens, TextRange text, size_t most, const TextInput& input) {
  if (tokens <= most) return 0;
  if (input.truncation == Truncation::kNone) {
    throw scheduler::InputTooLong(
        "The " + std::to_string(input.chunk_ends.size()) + " texts have " + std::to_string(tokens) +
        " tokens together, the model takes " + std::to_string(most) + ".");
  }
  return std::min(tokens - most, text.last - text.first);
}

/// Index of the chunk that contains a byte; the last chunk for bytes after all chunks.
size_t chunk_of(size_t byte, const std::vector<size_t>& ends) {
  const auto found = std::ranges::upper_bound(ends, byte);
  return std::min(static_cast<size_t>(found - ends.begin()), ends.size() - 1);
}

/// End of each chunk in tokens. `text`: the remaining tokens of the text.
std::vector<size_t> chunk_ends(const tokenizers::EncodingWithOffsets& encoding, TextRange text,
                               const std::vector<size_t>& byte_ends) {
  std::vector<size_t> ends(byte_ends.size(), text.first);
  size_t chunk = 0;
  for (size_t token = text.first; token < text.last; ++token) {
    const size_t begin = encoding.offsets[2 * token], end = encoding.offsets[(2 * token) + 1];
    // Some tokens have no bytes of the text: a space that the tokenizer inserts.
    const size_t byte = end > begin ? end - 1 : begin;
    chunk = std::max(chunk, chunk_of(byte, byte_ends));  // chunks are consecutive
    ends[chunk] = token + 1;
  }
  for (size_t i = 1; i < ends.size(); ++i) ends[i] = std::max(ends[i], ends[i - 1]);
  return ends;
}

/// Throws InputTooLong for the first chunk without a token.
void require_tokens(const std::vector<size_t>& ends, size_t first, bool truncated, size_t most) {
  for (size_t i = 0, begin = first; i < ends.size(); begin = ends[i++]) {
    if (ends[i] > begin) continue;
    const std::string text = "Text " + std::to_string(i) + " (counted from 0) has no tokens";
    throw scheduler::InputTooLong(
        text + (truncated ? " within the limit of " + std::to_string(most) : "") + ". Remove it.");
  }
}

std::vector<int64_t> without(const rust::Vec<int64_t>& tokens, size_t begin, size_t count) {
  std::vector<int64_t> kept(tokens.begin(), tokens.end());
  const auto from = kept.begin() + static_cast<std::ptrdiff_t>(begin);
  kept.erase(from, from + static_cast<std::ptrdiff_t>(count));
  return kept;
}

}  // namespace

Sequence tokenize_chunks(const tokenizers::Tokenizer& tokenizer, const TextInput& input) {
  try {
    const auto encoding = tokenizer.encode_whole_text(tokenizers::bytes(input.text), true);
    const size_t tokens = encoding.input_ids.size(), most = tokenizer.max_length();
    TextRange text = text_range(encoding);
    const size_t excess = excess_tokens(tokens, text, most, input);
    text.last -= excess;
    std::vector<size_t> ends = chunk_ends(encoding, text, input.chunk_ends);
    require_tokens(ends, text.first, excess > 0, most);
    ends.back() = tokens - excess;  // special tokens after the text
    return {.input_ids = without(encoding.input_ids, text.last, excess),
            .token_type_ids = without(encoding.token_type_ids, text.last, excess),
            .samples = {},
            .truncated = excess > 0,
            .chunk_ends = std::move(ends)};
  } catch (const rust::Error& error) {
    throw scheduler::BackendError(error.what());
  }
}

}  // namespace backend
