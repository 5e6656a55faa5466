// Conversion of a model's source to a struct. JS thread only.
#pragma once

#include <napi.h>

#include <variant>

#include "backend/backends.h"

namespace node {

using Source = std::variant<backend::TextModelSource, backend::TextProgramSource,
                            backend::SignalProgramSource>;

/// Converts a ModelSource of src/native/binding.ts. Throws Napi::TypeError.
Source source_argument(const Napi::Object& from);

}  // namespace node
