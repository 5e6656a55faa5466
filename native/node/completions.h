// Conversion of completions and other structs to JavaScript values. JS thread only.
#pragma once

#include <napi.h>

#include <functional>
#include <string>
#include <vector>

#include "scheduler/model_queue.h"

namespace node {

/// EngineErrorCode of src/native/binding.ts; null for kOk.
const char* error_code(scheduler::Status status);

double milliseconds(scheduler::Clock::duration duration);

/// Returns an array of convert(value) for each value.
template <class Values, class Convert = std::identity>
Napi::Array array(Napi::Env env, const Values& values, const Convert& convert = {}) {
  auto result = Napi::Array::New(env, values.size());
  uint32_t i = 0;
  for (const auto& value : values) result[i++] = convert(value);
  return result;
}

Napi::Float32Array floats(Napi::Env env, const std::vector<float>& values);

/// Completion[] of src/native/binding.ts.
Napi::Array to_js(Napi::Env env, const scheduler::Completions& completions);

}  // namespace node
