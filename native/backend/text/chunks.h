// Late chunking: an embedding for each chunk of a text that the encoder reads as a whole.
// Source: github.com/jina-ai/late-chunking, chunked_pooling (chunked_pooling,
// _extend_special_tokens).
#pragma once

#include "backend/model_input.h"
#include "tokenizers/bridge.h"

namespace backend {

/// Tokenizes a text with chunk_ends. A token belongs to the chunk that contains its last byte.
/// Special tokens before the text belong to the first chunk, those after it to the last chunk.
/// Truncation::kNone: throws scheduler::InputTooLong if there are more tokens than the model takes;
/// otherwise the last tokens of the text are removed. Throws InputTooLong, too, if a chunk has no
/// token, and scheduler::BackendError.
Sequence tokenize_chunks(const tokenizers::Tokenizer& tokenizer, const TextInput& input);

}  // namespace backend
