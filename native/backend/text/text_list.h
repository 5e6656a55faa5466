// Lists of texts as one input, for static embeddings.
#pragma once

#include "backend/model_input.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Tokenizes each text of a list, and concatenates the tokens. `empty_id`: token of a text without
/// tokens. Throws scheduler::InputTooLong or scheduler::BackendError with the index of the text.
Sequence tokenize_list(const tokenizers::Tokenizer& tokenizer, const TextList& list,
                       int64_t empty_id);

}  // namespace backend
