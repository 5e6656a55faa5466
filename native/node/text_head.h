// Conversion of the head of a text model to a struct. JS thread only.
#pragma once

#include <napi.h>

#include "backend/text_head.h"

namespace node {

/// Converts a TextHead of src/native/binding/heads.ts. Throws Napi::TypeError.
backend::TextHead text_head(const Napi::Value& value);

}  // namespace node
