#include "completions.h"

#include <algorithm>
#include <chrono>

namespace addon {
namespace {

Napi::Object to_js(Napi::Env env, const engine::Completion& completion) {
  auto object = Napi::Object::New(env);
  object["ticket"] = static_cast<double>(completion.ticket);
  if (const char* code = error_code(completion.status)) {
    object["code"] = code;
    object["message"] = completion.message;
    return object;
  }
  const std::vector<float>& values = completion.output.values;
  auto logits = Napi::Float32Array::New(env, values.size());
  std::ranges::copy(values, logits.Data());
  object["logits"] = logits;
  object["tokens"] = static_cast<double>(completion.tokens);
  object["truncated"] = completion.truncated;
  object["batchSize"] = static_cast<double>(completion.batch_size);
  object["batchTokens"] = static_cast<double>(completion.batch_tokens);
  object["queueMs"] = milliseconds(completion.queue_time);
  object["tokenizationMs"] = milliseconds(completion.preparation_time);
  object["inferenceMs"] = milliseconds(completion.inference_time);
  return object;
}

}  // namespace

double milliseconds(engine::Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

const char* error_code(engine::Status status) {
  switch (status) {
    case engine::Status::kOk:
      return nullptr;
    case engine::Status::kQueueFull:
      return "QUEUE_FULL";
    case engine::Status::kWaitTooLong:
      return "WAIT_TOO_LONG";
    case engine::Status::kDeadlineTooClose:
      return "DEADLINE_TOO_CLOSE";
    case engine::Status::kDraining:
      return "DRAINING";
    case engine::Status::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case engine::Status::kCancelled:
      return "CANCELLED";
    case engine::Status::kTimedOut:
      return "INFERENCE_TIMEOUT";
    case engine::Status::kTooLong:
      return "INPUT_TOO_LONG";
    case engine::Status::kFailed:
      return "INFERENCE_FAILED";
  }
  return "INFERENCE_FAILED";
}

Napi::Array strings(Napi::Env env, const std::vector<std::string>& values) {
  auto array = Napi::Array::New(env, values.size());
  for (uint32_t i = 0; i < values.size(); ++i) array[i] = values[i];
  return array;
}

Napi::Array to_js(Napi::Env env, const engine::Completions& completions) {
  auto array = Napi::Array::New(env, completions.size());
  uint32_t i = 0;
  for (const auto& completion : completions) array[i++] = to_js(env, completion);
  return array;
}

}  // namespace addon
