// Prompts of models that read a schema before the text (GLiNER2).
#pragma once

#include "backend/backends.h"
#include "backend/model_input.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Tokenizes `( [P] task ( [E] label … ) ) [SEP_TEXT]` and the words of the text. If the text has
/// several windows, or no word, the words are the response. Throws scheduler::InputTooLong if the
/// labels leave no token for the text, and scheduler::BackendError.
/// Source: gliner2, processor.py (SchemaTransformer).
Sequence tokenize_schema(const tokenizers::Tokenizer& tokenizer, const SchemaPrompt& prompt,
                         const EntityInput& input);

}  // namespace backend
