// Which model to load, as plain data. JS thread only.
#pragma once

#include <napi.h>

#include <variant>

#include "backend/backends.h"

namespace node {

using Source = std::variant<backend::TextModelSource, backend::TextProgramSource,
                            backend::SignalProgramSource>;

/// ModelSource of src/native/binding.ts. Throws Napi::TypeError.
Source source_argument(const Napi::Object& from);

}  // namespace node
