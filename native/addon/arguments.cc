#include "arguments.h"

#include <cmath>
#include <iomanip>
#include <optional>
#include <span>
#include <sstream>
#include <type_traits>
#include <utility>

namespace addon {
namespace {

std::string received(const Napi::Value& value) {
  switch (value.Type()) {
    case napi_undefined:
      return "undefined";
    case napi_null:
      return "null";
    case napi_boolean:
      return "a boolean";
    case napi_number:
      return "the number " + value.ToString().Utf8Value();
    case napi_string:
      return "a string";
    case napi_function:
      return "a function";
    default:
      return "an object";
  }
}

[[noreturn]] void fail(const Napi::Value& value, const std::string& expected,
                       const std::string& name) {
  throw Napi::TypeError::New(
      value.Env(), "Expected " + expected + " for " + name + " but received " + received(value));
}

Napi::Object object(const Napi::Value& value, const char* name) {
  if (!value.IsObject()) fail(value, "an object", name);
  return value.As<Napi::Object>();
}

std::string text(const Napi::Value& value, const std::string& name) {
  if (!value.IsString()) fail(value, "a string", name);
  return value.As<Napi::String>().Utf8Value();
}

std::string text(const Napi::Object& from, const char* name) { return text(from.Get(name), name); }

/// What JavaScript's numbers hold without gaps: no sum or product with a small one overflows.
constexpr double kMaxCount = 9'007'199'254'740'991;
/// Threads, and those of a worker: their product is an int.
constexpr double kMaxThreads = 10'000;
/// How many times as much of the machine one model may have as another, to either side of 1.
constexpr double kMaxShare = 1000;
/// Thirty years: in nanoseconds, and added to the time that it is now, it still fits into 64 bits.
constexpr double kMaxMilliseconds = 1e12;

struct Range {
  double least, most;
};

/// An infinity is beyond every range, and NaN too.
double number(const Napi::Value& value, const Range& range, const std::string& name) {
  const double given = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (!(given >= range.least && given <= range.most)) {
    std::ostringstream expected;
    expected << std::setprecision(16) << "a number from " << range.least << " to " << range.most;
    fail(value, expected.str(), name);
  }
  return given;
}

size_t count(const Napi::Value& value, const std::string& name, double most = kMaxCount) {
  return static_cast<size_t>(number(value, {.least = 1, .most = most}, name));
}

size_t count(const Napi::Object& from, const char* name, double most = kMaxCount) {
  return count(from.Get(name), name, most);
}

/// Each read by read(element, its name in an error).
template <class Read>
auto list(const Napi::Value& value, const char* expected, const std::string& name,
          const Read& read) {
  std::vector<decltype(read(value, name))> result;
  if (!value.IsArray()) fail(value, expected, name);
  const auto array = value.As<Napi::Array>();
  result.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) {
    result.push_back(read(array.Get(i), name + "[" + std::to_string(i) + "]"));
  }
  return result;
}

std::vector<std::string> texts(const Napi::Object& from, const char* name) {
  return list(from.Get(name), "an array of strings", name,
              [](const auto&... element) { return text(element...); });
}

std::vector<int64_t> counts(const Napi::Object& from, const char* name) {
  return list(from.Get(name), "an array of numbers", name,
              [](const auto&... element) { return static_cast<int64_t>(count(element...)); });
}

std::optional<int64_t> id(const Napi::Object& from, const char* name) {
  return static_cast<int64_t>(number(from.Get(name), {.least = 0, .most = kMaxCount}, name));
}

std::optional<double> share(const Napi::Object& from, const char* name) {
  return number(from.Get(name), {.least = 1 / kMaxShare, .most = kMaxShare}, name);
}

/// Of a property that may be left out: then it is empty.
template <class Property>
Property optional(Property (*read)(const Napi::Object&, const char*), const Napi::Object& from,
                  const char* name) {
  return from.Get(name).IsUndefined() ? Property() : read(from, name);
}

template <class Choice>
using Named = std::pair<const char*, std::type_identity_t<Choice>>;

/// What a name stands for; undefined: `otherwise`. `before_last`: in the error, of the names.
template <class Choice>
Choice choice(const Napi::Value& value, const char* name, Choice otherwise,
              std::span<const Named<Choice>> choices, const char* before_last = ", ") {
  if (value.IsUndefined()) return otherwise;
  const std::string given = value.IsString() ? value.As<Napi::String>().Utf8Value() : "";
  std::string expected;
  size_t left = choices.size();
  for (const auto& [known, meant] : choices) {
    if (given == known) return meant;
    expected += '"' + std::string(known) + '"';
    if (--left > 0) expected += left == 1 ? before_last : ", ";
  }
  fail(value, expected, name);
}

backend::ModelConfig model_config(const Napi::Object& from) {
  const Napi::Object config = object(from.Get("config"), "config");
  std::map<std::string, backend::ModelConfig::Value, std::less<>> entries;
  for (const auto& [key, slot] : config) {
    const Napi::Value value = slot;
    const std::string name = key.As<Napi::String>().Utf8Value();
    if (value.IsString()) {
      entries[name] = value.As<Napi::String>().Utf8Value();
    } else if (value.IsNumber()) {
      entries[name] = value.As<Napi::Number>().DoubleValue();
    } else if (value.IsBoolean()) {
      entries[name] = value.As<Napi::Boolean>().Value();
    } else if (value.IsNull()) {
      entries[name] = std::monostate();
    } else {
      fail(value, "a string, number, boolean or null", "config." + name);
    }
  }
  return backend::ModelConfig(std::move(entries));
}

Source source_argument(const Napi::Object& from) {
  const std::string type = text(from, "type");
  if (type == "text-classification") {
    return backend::TextModelSource{.task = type,
                                    .model_type = text(from, "modelType"),
                                    .config = model_config(from),
                                    .weight_files = texts(from, "weightFiles"),
                                    .tokenizer_directory = text(from, "tokenizerDirectory")};
  }
  if (type == "text-program") {
    return backend::TextProgramSource{.path = text(from, "path"),
                                      .tokenizer_directory = text(from, "tokenizerDirectory"),
                                      .num_labels = count(from, "numLabels"),
                                      .position_limit = count(from, "positionLimit"),
                                      .padding_id = optional(id, from, "paddingId")};
  }
  if (type == "signal-program") {
    return backend::SignalProgramSource{.path = text(from, "path"),
                                        .window_length = count(from, "windowLength"),
                                        .input_shape = optional(counts, from, "inputShape")};
  }
  fail(from.Get("type"), "\"text-classification\", \"text-program\" or \"signal-program\"", "type");
}

constexpr Named<engine::Truncation> kTruncations[] = {
    {"longest_first", engine::Truncation::kLongestFirst},
    {"only_first", engine::Truncation::kOnlyFirst},
    {"only_second", engine::Truncation::kOnlySecond},
    {"do_not_truncate", engine::Truncation::kNone}};
constexpr Named<engine::TruncationSide> kSides[] = {{"right", engine::TruncationSide::kRight},
                                                    {"left", engine::TruncationSide::kLeft}};
constexpr Named<backend::ProductNumbers> kProducts[] = {
    {"auto", backend::ProductNumbers::kAuto},
    {"float32", backend::ProductNumbers::kFloat32},
    {"bfloat16", backend::ProductNumbers::kBFloat16}};

/// TextInput of src/native/binding.ts.
engine::Text text_input(const Napi::Object& from) {
  engine::Text input{.text = text(from, "text"), .pair = optional<std::string>(text, from, "pair")};
  input.truncation = choice(from.Get("truncation"), "truncation", input.truncation, kTruncations);
  input.side = choice(from.Get("truncationSide"), "truncationSide", input.side, kSides);
  return input;
}

engine::Input input(const Napi::Value& value) {
  // Node-API writes a lone surrogate as U+FFFD.
  if (value.IsString()) return engine::Text{.text = value.As<Napi::String>().Utf8Value()};
  if (value.IsTypedArray() && value.As<Napi::TypedArray>().TypedArrayType() == napi_float32_array) {
    const auto array = value.As<Napi::Float32Array>();
    return std::vector<float>(array.Data(), array.Data() + array.ElementLength());
  }
  if (value.IsObject() && !value.IsTypedArray()) return text_input(value.As<Napi::Object>());
  fail(value, "a string, an object with \"text\" or a Float32Array", "input");
}

}  // namespace

backend::Dtype dtype_argument(const Napi::Value& value) {
  std::vector<Named<backend::Dtype>> choices;
  for (const auto each : backend::dtypes()) {
    choices.emplace_back(gemm::description_of(each).name, each);
  }
  return choice(value, "dtype", backend::Dtype::kFloat32, choices, " or ");
}

backend::ProductNumbers products_argument(const Napi::Value& value) {
  return choice(value, "products", backend::ProductNumbers::kAuto, kProducts, " or ");
}

LoadArguments load_arguments(const Napi::Value& source, const Napi::Value& options) {
  const Napi::Object given = object(options, "options");
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const auto milliseconds = [&](const char* name, double least) {
    return std::chrono::duration_cast<engine::Clock::duration>(
        Milliseconds(number(given.Get(name), {.least = least, .most = kMaxMilliseconds}, name)));
  };
  const size_t workers = count(given, "workers", kMaxThreads);
  const size_t threads = count(given, "threadsPerWorker", kMaxThreads);
  const std::chrono::milliseconds run_limit(count(given, "inferenceTimeoutMs", kMaxMilliseconds));
  const auto operators = optional(texts, given, "allowedOperators");
  return {
      .source = source_argument(object(source, "source")),
      .compute = {.dtype = dtype_argument(given.Get("dtype")),
                  .products = products_argument(given.Get("products")),
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
              .share = optional(share, given, "share").value_or(1),
          },
  };
}

std::vector<engine::Input> inputs_argument(const Napi::Value& value) {
  std::vector<engine::Input> inputs;
  if (!value.IsArray()) {
    inputs.push_back(input(value));
    return inputs;
  }
  const auto array = value.As<Napi::Array>();
  if (array.Length() == 0) fail(value, "at least one element", "inputs");
  inputs.reserve(array.Length());
  for (uint32_t i = 0; i < array.Length(); ++i) inputs.push_back(input(array.Get(i)));
  return inputs;
}

Napi::Function function_argument(const Napi::Value& value, const char* name) {
  if (!value.IsFunction()) fail(value, "a function", name);
  return value.As<Napi::Function>();
}

}  // namespace addon
