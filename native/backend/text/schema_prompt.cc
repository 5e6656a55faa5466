#include "text/schema_prompt.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "scheduler/backend.h"
#include "text/entity_prompt.h"

namespace backend {
namespace {

/// Words of the prompt that stand for the task and for the first label.
constexpr size_t kTask = 1, kFirstLabel = 4;

rust::Vec<rust::String> prompt_words(const EntityInput& input) {
  rust::Vec<rust::String> words;
  words.reserve(2 * input.labels.size() + kFirstLabel + 3);
  const auto append = [&](const std::string& word) { words.push_back(rust::String::lossy(word)); };
  for (const auto& word : {std::string("("), std::string("[P]"), input.task, std::string("(")}) {
    append(word);
  }
  for (const std::string& label : input.labels) {
    append("[E]");
    append(label);
  }
  for (const char* const word : {")", ")", "[SEP_TEXT]"}) append(word);
  return words;
}

}  // namespace

Sequence tokenize_schema(const tokenizers::Tokenizer& tokenizer, const SchemaPrompt& prompt,
                         const EntityInput& input) {
  try {
    const tokenizers::WordsEncoding encoding = tokenizer.encode_words(
        prompt_words(input), tokenizers::bytes(input.text), tokenizers::WordSplitter::Gliner2,
        prompt.max_words, prompt.overlap, std::numeric_limits<size_t>::max());
    Sequence sequence = sequence_of(encoding);
    if (sequence.only_tokens) return sequence;
    EntityRows rows;
    rows.threshold = input.threshold;
    rows.task = encoding.prompt_starts[kTask];
    for (size_t i = 0; i < input.labels.size(); ++i) {
      rows.labels.push_back(encoding.prompt_starts[kFirstLabel + 2 * i]);
    }
    rows.words.assign(encoding.word_starts.begin(), encoding.word_starts.end());
    sequence.entities = std::make_shared<const EntityRows>(std::move(rows));
    return sequence;
  } catch (const rust::Error& error) {
    throw scheduler::BackendError(error.what());
  }
}

}  // namespace backend
