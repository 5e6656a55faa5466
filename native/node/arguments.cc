#include "arguments.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "values.h"

namespace node {
namespace {

/// Maximum of `workers` and of `threadsPerWorker`. Their product fits into an int.
constexpr double kMaxThreads = 10'000;
constexpr double kMaxCacheMegabytes = 1024.0 * 1024;
/// Maximum weight of a model; the minimum is its inverse.
constexpr double kMaxWeight = 1000;
/// 30 years. The current time plus this duration fits into 64 bits of nanoseconds.
constexpr double kMaxMilliseconds = 1e12;

std::optional<double> weight(const Napi::Object& from, const char* name) {
  return number(from.Get(name), {.min = 1 / kMaxWeight, .max = kMaxWeight}, name);
}

size_t cache_bytes(const Napi::Object& from, const char* name) {
  const double megabytes = number(from.Get(name), {.min = 0, .max = kMaxCacheMegabytes}, name);
  return static_cast<size_t>(megabytes * 1024 * 1024);
}

std::vector<int64_t> integers(const Napi::Object& from, const char* name) {
  const Napi::Value value = from.Get(name);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint32_array) {
    fail(value, "a Uint32Array", name);
  }
  const auto array = value.As<Napi::Uint32Array>();
  return {array.Data(), array.Data() + array.ElementLength()};
}

constexpr Named<backend::Truncation> kTruncations[] = {
    {"longest_first", backend::Truncation::kLongestFirst},
    {"only_first", backend::Truncation::kOnlyFirst},
    {"only_second", backend::Truncation::kOnlySecond},
    {"do_not_truncate", backend::Truncation::kNone}};
constexpr Named<backend::TruncationSide> kSides[] = {{"right", backend::TruncationSide::kRight},
                                                     {"left", backend::TruncationSide::kLeft}};
constexpr Named<backend::AttentionPrecision> kProducts[] = {
    {"auto", backend::AttentionPrecision::kAuto},
    {"float32", backend::AttentionPrecision::kFloat32},
    {"bfloat16", backend::AttentionPrecision::kBFloat16}};

/// `parts` of TextInput and TokenInput; null: the default of the head.
std::optional<backend::EmbeddingParts> embedding_parts(const Napi::Object& from) {
  if (from.Get("parts").IsUndefined()) return std::nullopt;
  const Napi::Object parts = object(from.Get("parts"), "parts");
  return backend::EmbeddingParts{.dense = flag(parts, "dense"),
                                 .sparse = flag(parts, "sparse"),
                                 .colbert = flag(parts, "colbert")};
}

/// TextInput of src/native/binding.ts.
backend::TextInput text_input(const Napi::Object& from) {
  backend::TextInput input{.text = text(from, "text"),
                           .pair = optional<std::string>(text, from, "pair")};
  input.prompt = optional<std::string>(text, from, "prompt");
  input.truncation = choice<backend::Truncation>(from.Get("truncation"), "truncation",
                                                 input.truncation, kTruncations);
  input.side = choice<backend::TruncationSide>(from.Get("truncationSide"), "truncationSide",
                                               input.side, kSides);
  input.with_offsets = flag(from, "places");
  input.stride = optional(id, from, "stride");
  input.max_windows = static_cast<size_t>(optional(id, from, "mostWindows").value_or(0));
  input.is_pair = flag(from, "isPair");
  input.max_tokens = static_cast<size_t>(optional(id, from, "maxTokens").value_or(0));
  input.expand_query = flag(from, "fills");
  input.apply_skiplist = flag(from, "skips");
  input.parts = embedding_parts(from);
  input.adapter_task = optional(id, from, "adapterTask");
  input.only_tokens = flag(from, "onlyTokens");
  input.omit_special_tokens = flag(from, "omitSpecialTokens");
  input.by_words = flag(from, "byWords");
  return input;
}

/// ChunkInput of src/native/binding.ts.
backend::TextInput chunk_input(const Napi::Object& from) {
  backend::TextInput input{.text = {}, .prompt = optional<std::string>(text, from, "prompt")};
  input.adapter_task = optional(id, from, "adapterTask");
  input.truncation = choice<backend::Truncation>(from.Get("truncation"), "truncation",
                                                 input.truncation, kTruncations);
  const std::vector<std::string> chunks = texts(from, "chunks");
  if (chunks.empty()) fail(from.Get("chunks"), "at least one element", "chunks");
  for (const std::string& chunk : chunks) {
    input.text += chunk;
    input.chunk_ends.push_back(input.text.size());
  }
  return input;
}

/// TokenInput of src/native/binding.ts.
backend::TokenInput tokens_input(const Napi::Object& from) {
  backend::TokenInput tokens{.ids = integers(from, "ids"), .types = integers(from, "types")};
  tokens.apply_skiplist = flag(from, "skips");
  tokens.parts = embedding_parts(from);
  tokens.adapter_task = optional(id, from, "adapterTask");
  const auto markers = optional<std::vector<int64_t>>(integers, from, "markers");
  tokens.markers.assign(markers.begin(), markers.end());
  tokens.truncated = flag(from, "truncated");
  tokens.question_type = static_cast<size_t>(optional(id, from, "questionType").value_or(0));
  tokens.options_end = static_cast<size_t>(optional(id, from, "optionsEnd").value_or(0));
  if (tokens.ids.size() != tokens.types.size()) fail(from.Get("types"), "one for each id", "types");
  return tokens;
}

/// EntityInput of src/native/binding.ts.
backend::EntityInput entity_input(const Napi::Object& from) {
  backend::EntityInput input{.text = text(from, "text"), .labels = texts(from, "labels")};
  if (input.labels.empty()) fail(from.Get("labels"), "at least one element", "labels");
  input.threshold =
      static_cast<float>(number(from.Get("threshold"), {.min = 0, .max = 1}, "threshold"));
  input.task = optional<std::string>(text, from, "task");
  return input;
}

/// TextListInput of src/native/binding.ts.
backend::TextList text_list(const Napi::Object& from) {
  backend::TextList list{.text = text(from, "text"), .ends = {}};
  const std::vector<int64_t> ends = integers(from, "ends");
  list.ends.assign(ends.begin(), ends.end());
  const bool ascends = std::ranges::is_sorted(list.ends);
  if (!ascends || list.ends.empty() || list.ends.back() != list.text.size()) {
    fail(from.Get("ends"), "ascending positions up to the end of the text", "ends");
  }
  list.truncation = choice<backend::Truncation>(from.Get("truncation"), "truncation",
                                                list.truncation, kTruncations);
  list.side = choice<backend::TruncationSide>(from.Get("truncationSide"), "truncationSide",
                                              list.side, kSides);
  return list;
}

backend::ModelInput input(const Napi::Value& value) {
  // Node-API converts a lone surrogate to U+FFFD.
  if (value.IsString()) return backend::TextInput{.text = value.As<Napi::String>().Utf8Value()};
  if (value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_float32_array) {
    const auto array = value.As<Napi::Float32Array>();
    return std::vector<float>(array.Data(), array.Data() + array.ElementLength());
  }
  if (value.IsObject() && !value.IsTypedArray()) {
    const auto object = value.As<Napi::Object>();
    if (object.Has("ends")) return text_list(object);
    if (object.Has("ids")) return tokens_input(object);
    if (object.Has("chunks")) return chunk_input(object);
    if (object.Has("labels")) return entity_input(object);
    return text_input(object);
  }
  fail(value, "a string, an object with \"text\" or a Float32Array", "input");
}

/// Sets the limit of the output size. budget: null for no limit.
scheduler::InputPtr limited(backend::ModelInput given,
                            const std::shared_ptr<backend::OutputBudget>& budget) {
  if (auto* const text = std::get_if<backend::TextInput>(&given)) text->budget = budget;
  if (auto* const tokens = std::get_if<backend::TokenInput>(&given)) tokens->budget = budget;
  if (auto* const entities = std::get_if<backend::EntityInput>(&given)) entities->budget = budget;
  return std::make_unique<backend::Input>(std::move(given));
}

}  // namespace

backend::Dtype dtype_argument(const Napi::Value& value) {
  std::vector<Named<backend::Dtype>> choices;
  for (const auto each : backend::dtypes()) {
    choices.emplace_back(kernels::description_of(each).name, each);
  }
  return choice<backend::Dtype>(value, "dtype", backend::Dtype::kFloat32, choices, " or ");
}

backend::AttentionPrecision products_argument(const Napi::Value& value) {
  return choice<backend::AttentionPrecision>(value, "attentionDtype",
                                             backend::AttentionPrecision::kAuto, kProducts, " or ");
}

LoadArguments load_arguments(const Napi::Value& source, const Napi::Value& options) {
  const Napi::Object given = object(options, "options");
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const auto milliseconds = [&](const char* name, double least) {
    return std::chrono::duration_cast<scheduler::Clock::duration>(
        Milliseconds(number(given.Get(name), {.min = least, .max = kMaxMilliseconds}, name)));
  };
  const size_t workers = count(given, "workers", kMaxThreads);
  const size_t threads = count(given, "threadsPerWorker", kMaxThreads);
  const std::chrono::milliseconds run_limit(count(given, "inferenceTimeoutMs", kMaxMilliseconds));
  const auto operators = optional(texts, given, "allowedOperators");
  return {
      .source = source_argument(object(source, "source")),
      .compute = {.dtype = dtype_argument(given.Get("dtype")),
                  .attention_precision = products_argument(given.Get("attentionDtype")),
                  .threads_per_worker = static_cast<int>(threads),
                  .run_limit = run_limit,
                  .progress = std::make_shared<backend::LoadProgress>(),
                  .allowed_operators = {operators.begin(), operators.end()}},
      .scheduling =
          {
              .workers = workers,
              .threads_per_worker = threads,
              .max_batch_tokens = count(given, "maxBatchTokens"),
              .max_batch_requests = count(given, "maxBatchRequests"),
              .max_queue_delay = milliseconds("maxQueueDelayMs", 0),
              .max_queue_requests = count(given, "maxQueueRequests"),
              .max_queue_wait = milliseconds("maxQueueWaitMs", 1),
              .run_limit = run_limit,
              .weight = optional(weight, given, "weight").value_or(1),
          },
      .result_cache_bytes = optional(cache_bytes, given, "resultCacheMb"),
  };
}

std::vector<scheduler::InputPtr> inputs_argument(const Napi::Value& value, int64_t max_outputs) {
  std::vector<scheduler::InputPtr> inputs;
  const auto budget =
      max_outputs > 0 ? std::make_shared<backend::OutputBudget>(max_outputs) : nullptr;
  if (!value.IsArray()) {
    inputs.push_back(limited(input(value), budget));
    return inputs;
  }
  const auto array = value.As<Napi::Array>();
  if (array.Length() == 0) fail(value, "at least one element", "inputs");
  inputs.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) {
    inputs.push_back(limited(input(array.Get(i)), budget));
  }
  return inputs;
}

double weight_argument(const Napi::Value& value) {
  return number(value, {.min = 1 / kMaxWeight, .max = kMaxWeight}, "weight");
}

Napi::Function function_argument(const Napi::Value& value, const char* name) {
  if (!value.IsFunction()) fail(value, "a function", name);
  return value.As<Napi::Function>();
}

}  // namespace node
