// Tokenization, for encoders and text programs.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backends.h"
#include "backend/model_input.h"
#include "backend/vocabulary.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Tokenizes a text or a text pair; passes TokenInput on. Throws scheduler::InputTooLong or
/// scheduler::BackendError.
Sequence tokenize(const tokenizers::Tokenizer& tokenizer, ModelInput input);

/// Tokenizes a single text. Throws scheduler::InputTooLong or scheduler::BackendError.
tokenizers::Encoding encode(const tokenizers::Tokenizer& tokenizer, std::string_view text,
                            Truncation truncation, TruncationSide side);

/// Applies the options of the model's files to the tokenizer. Throws rust::Error.
void apply_options(tokenizers::Tokenizer& tokenizer, const TokenizationOptions& options);

/// Throws LoadError if the tokenizer lacks one of the tokens, or has it under another id.
void require_tokens(const tokenizers::Tokenizer& tokenizer,
                    const std::vector<RequiredToken>& required);

/// Vocabulary of a tokenizer. `owner` keeps the tokenizer alive.
class TokenizerVocabulary final : public Vocabulary {
 public:
  TokenizerVocabulary(std::shared_ptr<const void> owner, const tokenizers::Tokenizer& tokenizer)
      : owner_(std::move(owner)), tokenizer_(tokenizer) {}

  std::string token(uint32_t id) const override;
  std::string join(const std::vector<std::string>& tokens) const override;
  std::string decode(const std::vector<uint32_t>& ids, bool skip_special_tokens) const override;
  std::optional<size_t> find_unknown_id(const std::vector<uint32_t>& ids) const override;
  bool marks_continued_words() const override { return tokenizer_.has_subword_prefix(); }
  std::optional<uint32_t> unknown_id() const override;

 private:
  std::shared_ptr<const void> owner_;
  const tokenizers::Tokenizer& tokenizer_;
};

}  // namespace backend
