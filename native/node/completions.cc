#include "completions.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "backend/model_input.h"

namespace node {
namespace {

Napi::Uint32Array integers(Napi::Env env, const auto& values) {
  auto array = Napi::Uint32Array::New(env, values.size());
  std::ranges::transform(values, array.Data(),
                         [](auto value) { return static_cast<uint32_t>(value); });
  return array;
}

/// TokenPlaces of src/native/binding.ts.
Napi::Object to_js(Napi::Env env, const backend::EncodingWithOffsets& encoding) {
  auto object = Napi::Object::New(env);
  object["ids"] = integers(env, encoding.tokens.ids);
  object["types"] = integers(env, encoding.tokens.types);
  object["offsets"] = integers(env, encoding.offsets);
  object["texts"] = integers(env, encoding.texts);
  object["lengths"] = integers(env, encoding.lengths);
  return object;
}

/// WordWindows of src/native/binding.ts.
Napi::Object to_js(Napi::Env env, const backend::WordWindows& words) {
  auto object = Napi::Object::New(env);
  object["offsets"] = integers(env, words.offsets);
  object["starts"] = integers(env, words.starts);
  object["lengths"] = integers(env, words.lengths);
  return object;
}

/// TextListTokens of src/native/binding.ts.
Napi::Object list_tokens(Napi::Env env, const backend::Sequence& sequence) {
  auto object = Napi::Object::New(env);
  object["ends"] = integers(env, sequence.chunk_ends);
  object["truncated"] = integers(env, sequence.truncated_texts);
  return object;
}

Napi::Object to_js(Napi::Env env, const scheduler::Completion& completion) {
  auto object = Napi::Object::New(env);
  object["ticket"] = static_cast<double>(completion.ticket);
  if (completion.count > 1) object["count"] = static_cast<double>(completion.count);
  if (const char* code = error_code(completion.status)) {
    object["code"] = code;
    object["message"] = completion.message;
    if (completion.element) object["element"] = static_cast<double>(*completion.element);
    return object;
  }
  object["values"] = floats(env, completion.output.values);
  object["rows"] = static_cast<double>(completion.output.rows);
  object["tokens"] = static_cast<double>(completion.input->cost());
  object["truncated"] = completion.input->is_truncated();
  object["batchSize"] = static_cast<double>(completion.batch_size);
  object["batchTokens"] = static_cast<double>(completion.batch_tokens);
  object["queueMs"] = milliseconds(completion.queue_time);
  object["tokenizationMs"] = milliseconds(completion.preparation_time);
  object["inferenceMs"] = milliseconds(completion.inference_time);
  const auto& input = static_cast<const backend::PreparedSequence&>(*completion.input);
  if (input.sequence.encoding) object["places"] = to_js(env, *input.sequence.encoding);
  if (!input.sequence.truncated_texts.empty()) object["list"] = list_tokens(env, input.sequence);
  if (input.sequence.words) object["words"] = to_js(env, *input.sequence.words);
  return object;
}

}  // namespace

double milliseconds(scheduler::Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

const char* error_code(scheduler::Status status) {
  constexpr const char* kCodes[] = {
      nullptr,          "QUEUE_FULL",        "WAIT_TOO_LONG", "DEADLINE_TOO_CLOSE",
      "DRAINING",       "DEADLINE_EXCEEDED", "CANCELLED",     "INFERENCE_TIMEOUT",
      "INPUT_TOO_LONG", "INFERENCE_FAILED"};
  static_assert(std::size(kCodes) == scheduler::kStatuses);
  return kCodes[static_cast<size_t>(status)];
}

Napi::Float32Array floats(Napi::Env env, const std::vector<float>& values) {
  auto array = Napi::Float32Array::New(env, values.size());
  std::ranges::copy(values, array.Data());
  return array;
}

Napi::Array to_js(Napi::Env env, const scheduler::Completions& completions) {
  return array(env, completions, [&](const auto& each) { return to_js(env, each); });
}

}  // namespace node
