// Prompts of models that find entities by labels (GLiNER).
#pragma once

#include <memory>

#include "backend/backends.h"
#include "backend/model_input.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Tokenizes the labels and the words of the text. If the text has several windows, or no word, the
/// words are the response. Throws scheduler::InputTooLong if the labels leave no
/// token for the text, and scheduler::BackendError.
/// Source: gliner, data_processing/processor.py (UniEncoderSpanProcessor).
Sequence tokenize_entities(const tokenizers::Tokenizer& tokenizer, const EntityPrompt& prompt,
                           const EntityInput& input);

/// Words and windows of a text.
std::shared_ptr<const WordWindows> words_of(const tokenizers::WordsEncoding& encoding);

/// Throws LoadError if the vocabulary lacks a token of the prompt.
void require_prompt_tokens(const tokenizers::Tokenizer& tokenizer, const EntityPrompt& prompt);

}  // namespace backend
