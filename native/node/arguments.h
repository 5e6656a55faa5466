// Conversion of the addon's JavaScript arguments to structs. JS thread only.
#pragma once

#include <napi.h>

#include "backend/backends.h"
#include "backend/model_input.h"
#include "scheduler/model_queue.h"
#include "sources.h"

namespace node {

/// Arguments of load(): ModelSource and SchedulingOptions of src/native/binding.ts.
struct LoadArguments {
  Source source;
  backend::ComputeOptions compute;
  scheduler::Options scheduling;  ///< without `results`
  size_t result_cache_bytes = 0;  ///< 0: no result cache
};

// Each function throws Napi::TypeError: "Expected X for Y but received Z".

/// A value of the setting DTYPE; float32 if undefined.
backend::Dtype dtype_argument(const Napi::Value& value);
/// kAuto if undefined.
backend::AttentionPrecision products_argument(const Napi::Value& value);
LoadArguments load_arguments(const Napi::Value& source, const Napi::Value& options);
/// Converts a NativeInput of src/native/binding.ts, or an array of them. `max_outputs`: maximum
/// number of values in all outputs together, for models with a row for each token; 0: no limit.
std::vector<scheduler::InputPtr> inputs_argument(const Napi::Value& value, int64_t max_outputs);
/// See ModelQueue::set_weight().
double weight_argument(const Napi::Value& value);
Napi::Function function_argument(const Napi::Value& value, const char* name);

}  // namespace node
