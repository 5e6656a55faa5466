#pragma once

#include <memory>
#include <utility>

#include "backend/vocabulary.h"
#include "tokenizers/bridge.h"

namespace backend {

/// That of a tokenizer, which `owner` keeps.
class TokenizerVocabulary final : public Vocabulary {
 public:
  TokenizerVocabulary(std::shared_ptr<const void> owner, const tokenizers::Tokenizer& tokenizer)
      : owner_(std::move(owner)), tokenizer_(tokenizer) {}

  std::string token(uint32_t id) const override;
  std::string join(const std::vector<std::string>& tokens) const override;
  bool marks_continued_words() const override { return tokenizer_.marks_continued_words(); }
  std::optional<uint32_t> unknown_id() const override;

 private:
  std::shared_ptr<const void> owner_;
  const tokenizers::Tokenizer& tokenizer_;
};

}  // namespace backend
