#include "text/tokenizer_vocabulary.h"

#include "scheduler/backend.h"

namespace backend {

std::string TokenizerVocabulary::token(uint32_t id) const {
  return std::string(tokenizer_.token(id));
}

std::string TokenizerVocabulary::join(const std::vector<std::string>& tokens) const {
  rust::Vec<rust::String> all;
  all.reserve(tokens.size());
  for (const std::string& token : tokens) all.push_back(rust::String::lossy(token));
  try {
    return std::string(tokenizer_.join(std::move(all)));
  } catch (const rust::Error& error) {
    throw scheduler::BackendError(error.what());
  }
}

std::optional<uint32_t> TokenizerVocabulary::unknown_id() const {
  const int64_t id = tokenizer_.unknown_id();
  return id < 0 ? std::nullopt : std::optional(static_cast<uint32_t>(id));
}

}  // namespace backend
