// How requests ended, as JavaScript sees it. JS thread only.
#pragma once

#include <napi.h>

#include "engine/engine.h"

namespace addon {

/// The EngineErrorCode of src/native/binding.ts; nullptr for kOk.
const char* error_code(engine::Status status);

double milliseconds(engine::Clock::duration duration);

Napi::Array strings(Napi::Env env, const std::vector<std::string>& values);

/// NativeCompletion[] of src/native/binding.ts.
Napi::Array to_js(Napi::Env env, const engine::Completions& completions);

}  // namespace addon
