#include "text/entity_prompt.h"

#include <memory>
#include <string>
#include <utility>

#include "common/error.h"
#include "scheduler/backend.h"

namespace backend {
namespace {

rust::Vec<rust::String> prompt_words(const EntityPrompt& prompt,
                                     const std::vector<std::string>& labels) {
  rust::Vec<rust::String> words;
  words.reserve(2 * labels.size() + 1);
  for (const std::string& label : labels) {
    words.push_back(rust::String(prompt.entity_token));
    words.push_back(rust::String::lossy(label));
  }
  words.push_back(rust::String(prompt.separator));
  return words;
}

/// Rows of the labels: tokens of the prompt.
std::vector<int64_t> label_rows(const tokenizers::WordsEncoding& encoding,
                                const EntityPrompt& prompt, size_t labels) {
  std::vector<int64_t> rows;
  rows.reserve(labels);
  for (size_t i = 0; i < labels; ++i) {
    const int64_t row = encoding.prompt_starts[2 * i];
    rows.push_back(prompt.label_after_entity_token ? row + 1 : row);
  }
  return rows;
}

/// Words and windows of a text.
std::shared_ptr<const WordWindows> words_of(const tokenizers::WordsEncoding& encoding) {
  const auto copy = [](const rust::Vec<uint32_t>& values) {
    return std::vector<uint32_t>(values.begin(), values.end());
  };
  return std::make_shared<WordWindows>(WordWindows{.offsets = copy(encoding.offsets),
                                                   .starts = copy(encoding.window_starts),
                                                   .lengths = copy(encoding.window_lengths)});
}

}  // namespace

Sequence sequence_of(const tokenizers::WordsEncoding& encoding) {
  if (!encoding.too_long.empty()) throw scheduler::InputTooLong(std::string(encoding.too_long));
  Sequence sequence{
      .input_ids = {encoding.input_ids.begin(), encoding.input_ids.end()},
      .token_type_ids = {encoding.token_type_ids.begin(), encoding.token_type_ids.end()},
      .samples = {},
      .truncated = encoding.truncated};
  sequence.words = words_of(encoding);
  // Without words there is nothing to find; several windows are inputs of their own.
  sequence.only_tokens = sequence.words->lengths.size() != 1;
  return sequence;
}

Sequence tokenize_entities(const tokenizers::Tokenizer& tokenizer, const EntityPrompt& prompt,
                           const TokenizeLabels& tokenize_labels, const EntityInput& input,
                           size_t vocabulary_size) {
  try {
    EntityRows rows;
    rows.threshold = input.threshold;
    rust::Vec<rust::String> words;
    if (tokenize_labels) {
      rows.label_ids = tokenize_labels(input.labels);
    } else {
      words = prompt_words(prompt, input.labels);
    }
    const tokenizers::WordsEncoding encoding = tokenizer.encode_words(
        words, tokenizers::bytes(input.text), tokenizers::WordSplitter::Gliner, prompt.max_words,
        prompt.overlap, vocabulary_size);
    Sequence sequence = sequence_of(encoding);
    if (sequence.only_tokens) return sequence;
    if (!tokenize_labels) rows.labels = label_rows(encoding, prompt, input.labels.size());
    rows.words.assign(encoding.word_starts.begin(), encoding.word_starts.end());
    sequence.entities = std::make_shared<const EntityRows>(std::move(rows));
    return sequence;
  } catch (const rust::Error& error) {
    throw scheduler::BackendError(error.what());
  }
}

// Source: gliner, model.py (_get_special_tokens, BaseBiEncoderGLiNER.resize_embeddings).
size_t count_tokens_without_row(const tokenizers::Tokenizer& tokenizer, const EntityPrompt& prompt,
                                size_t rows) {
  size_t count = 0;
  for (const std::string& token : {std::string("[FLERT]"), prompt.entity_token, prompt.separator}) {
    if (tokenizer.token_to_id(token) == static_cast<int64_t>(rows + count)) ++count;
  }
  return count;
}

void require_prompt_tokens(const tokenizers::Tokenizer& tokenizer, const EntityPrompt& prompt) {
  for (const std::string& token : {prompt.entity_token, prompt.separator}) {
    if (tokenizer.token_to_id(token) >= 0) continue;
    throw common::LoadError("the tokenizer has no token " + token +
                            ", which separates the labels of a request");
  }
}

}  // namespace backend
