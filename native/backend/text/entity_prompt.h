// Prompts of models that find entities by labels (GLiNER).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backends.h"
#include "backend/model_input.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Tokenizes labels for a label encoder. Throws scheduler::InputTooLong and
/// scheduler::BackendError.
using TokenizeLabels = std::function<std::vector<LabelIds>(const std::vector<std::string>& labels)>;

/// Tokenizes the labels and the words of the text. If the text has several windows, or no word, the
/// words are the response. tokenize_labels: of the label encoder; null: the labels are in the
/// prompt. vocabulary_size: words lose tokens with other ids. Throws scheduler::InputTooLong if the
/// labels leave no token for the text, and scheduler::BackendError. Source: gliner,
/// data_processing/processor.py (UniEncoderSpanProcessor, BaseBiEncoderProcessor).
Sequence tokenize_entities(const tokenizers::Tokenizer& tokenizer, const EntityPrompt& prompt,
                           const TokenizeLabels& tokenize_labels, const EntityInput& input,
                           size_t vocabulary_size);

/// Number of tokens that gliner adds to the tokenizer of a bi-encoder, but not to the embedding
/// table with these rows.
size_t count_tokens_without_row(const tokenizers::Tokenizer& tokenizer, const EntityPrompt& prompt,
                                size_t rows);

/// The tokens, words and windows of a text. Throws scheduler::InputTooLong.
Sequence sequence_of(const tokenizers::WordsEncoding& encoding);

/// Throws LoadError if the vocabulary lacks a token of the prompt.
void require_prompt_tokens(const tokenizers::Tokenizer& tokenizer, const EntityPrompt& prompt);

}  // namespace backend
