// What both kinds of text models do with what they are given.
#pragma once

#include "backend/text_reading.h"
#include "engine/batch.h"
#include "hf/bridge.h"

namespace backend {

/// The ids of one text or two, or those that are given. Throws engine::InputTooLong,
/// engine::BackendError.
engine::Sequence tokenize(const hf::Tokenizer& tokenizer, engine::Input input);

/// Makes the tokenizer read texts as the model's files specify. Throws rust::Error.
void set_reading(hf::Tokenizer& tokenizer, const TextReading& reading);

}  // namespace backend
