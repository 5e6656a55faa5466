// JS values → plain structs, before anything leaves the JS thread. JS thread only.
#pragma once

#include <napi.h>

#include "backend/backends.h"
#include "backend/model_input.h"
#include "scheduler/engine.h"
#include "sources.h"

namespace node {

/// What load() was called with; see NativeSource and SchedulingOptions in src/native/binding.ts.
struct LoadArguments {
  Source source;
  backend::ComputeOptions compute;
  scheduler::Options scheduling;
};

// Each throws Napi::TypeError: "Expected X for Y but received Z".

/// "float32", "bfloat16" or "int8"; float32 when it is undefined.
backend::Dtype dtype_argument(const Napi::Value& value);

/// Undefined: auto.
backend::ProductNumbers products_argument(const Napi::Value& value);
LoadArguments load_arguments(const Napi::Value& source, const Napi::Value& options);
/// NativeInput of src/native/binding.ts, or an array of them. `max_outputs`: numbers that their
/// answers may have together, where each token has a row; 0: any.
std::vector<scheduler::InputPtr> inputs_argument(const Napi::Value& value, int64_t max_outputs);
/// See Engine::set_share.
double share_argument(const Napi::Value& value);
Napi::Function function_argument(const Napi::Value& value, const char* name);

}  // namespace node
