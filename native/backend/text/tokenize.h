// What both kinds of text models do with what they are given.
#pragma once

#include "backend/text_reading.h"
#include "backend/model_input.h"
#include "tokenizers/bridge.h"

namespace backend {

/// The ids of one text or two, or those that are given. Throws scheduler::InputTooLong,
/// scheduler::BackendError.
Sequence tokenize(const tokenizers::Tokenizer& tokenizer, ModelInput input);

/// Makes the tokenizer read texts as the model's files specify. Throws rust::Error.
void set_reading(tokenizers::Tokenizer& tokenizer, const TextReading& reading);

}  // namespace backend
