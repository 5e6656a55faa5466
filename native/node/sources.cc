#include "sources.h"

#include <map>
#include <utility>

#include "text_head.h"
#include "values.h"

namespace node {
namespace {

std::optional<size_t> limit(const Napi::Object& from, const char* name) {
  return count(from, name);
}

size_t number_of(const Napi::Object& from, const char* name) {
  return static_cast<size_t>(optional(id, from, name).value_or(0));
}

std::optional<backend::Frame> frame(const Napi::Object& from, const char* name) {
  const Napi::Object given = object(from.Get(name), name);
  return backend::Frame{.before = texts(given, "before"),
                        .between = texts(given, "between"),
                        .after = texts(given, "after"),
                        .kept_end = optional<std::vector<std::string>>(texts, given, "keptEnd"),
                        .max_length = number_of(given, "maxLength"),
                        .times_before = number_of(given, "timesBefore"),
                        .times_after = number_of(given, "timesAfter")};
}

/// All properties are optional.
backend::TokenizationOptions reading(const Napi::Object& from) {
  return {.max_length = optional(limit, from, "maxLength"),
          .lowercase = flag(from, "lowercases"),
          .frame = optional(frame, from, "frame")};
}

backend::LateInteraction late_interaction(const Napi::Object& from, const char* name) {
  const Napi::Object given = object(from.Get(name), name);
  return {.query_length = optional(limit, given, "filledLength").value_or(0),
          .expansion_token = optional<std::string>(text, given, "fillingToken"),
          .attend_to_expansion = flag(given, "fillingIsSeen"),
          .skiplist = texts(given, "skipped"),
          .prefixes = texts(given, "prefixes")};
}

/// Factors of LoRA updates.
constexpr Range kScales{.min = -1e30, .max = 1e30};

/// TaskAdapters of src/native/binding/sources.ts.
std::optional<backend::TaskAdapters> task_adapters(const Napi::Object& from, const char* name) {
  const Napi::Object given = object(from.Get(name), name);
  return backend::TaskAdapters{.tasks = size(given, "tasks"),
                               .rank = size(given, "rank"),
                               .scale = number(given.Get("scale"), kScales, "scale"),
                               .default_task = optional(id, given, "defaultTask")};
}

/// LoraAdapter of src/native/binding/sources.ts.
std::optional<backend::LoraAdapter> adapter(const Napi::Object& from, const char* name) {
  const Napi::Object given = object(from.Get(name), name);
  backend::LoraAdapter result{.weight_file = text(given, "weightFile"), .layers = {}};
  const Napi::Object layers = object(given.Get("layers"), "layers");
  for (const auto& [key, slot] : layers) {
    const std::string module = key.As<Napi::String>().Utf8Value();
    const Napi::Object layer = object(slot, "layers." + module);
    result.layers[module] = {
        .rank = size(layer, "rank"),
        .scale = number(layer.Get("scale"), kScales, "layers." + module + ".scale")};
  }
  return result;
}

/// EntityPrompt of src/native/binding/sources.ts.
std::optional<backend::EntityPrompt> entity_prompt(const Napi::Object& from, const char* name) {
  const Napi::Object given = object(from.Get(name), name);
  return backend::EntityPrompt{.entity_token = text(given, "entityToken"),
                               .separator = text(given, "separator"),
                               .label_after_entity_token = flag(given, "labelAfterEntityToken"),
                               .max_words = count(given, "maxWords"),
                               .overlap = count(given, "overlap")};
}

/// SchemaPrompt of src/native/binding/sources.ts.
std::optional<backend::SchemaPrompt> schema_prompt(const Napi::Object& from, const char* name) {
  const Napi::Object given = object(from.Get(name), name);
  return backend::SchemaPrompt{.max_words = count(given, "maxWords"),
                               .overlap = count(given, "overlap")};
}

/// RequiredToken of src/native/binding/sources.ts.
backend::RequiredToken required_token(const Napi::Value& value, const std::string& name) {
  const Napi::Object from = object(value, name);
  return {.text = text(from, "text"), .id = optional(id, from, "id")};
}

std::vector<backend::RequiredToken> required_tokens(const Napi::Object& from, const char* name) {
  return list(from.Get(name), "an array", name, required_token);
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

/// LabelEncoder of src/native/binding/sources.ts.
std::optional<backend::LabelEncoderSource> label_encoder(const Napi::Object& from,
                                                         const char* name) {
  const Napi::Object given = object(from.Get(name), name);
  return backend::LabelEncoderSource{
      .model_type = text(given, "modelType"),
      .config = model_config(given),
      .base_prefix = text(given, "basePrefix"),
      .tokenizer_directory = text(given, "tokenizerDirectory"),
      .labels = optional<std::vector<std::string>>(texts, given, "labels")};
}

/// ConstantInput of src/native/binding/sources.ts.
backend::ConstantInput constant_input(const Napi::Value& value, const std::string& name) {
  const Napi::Object from = object(value, name);
  const Napi::Value values = from.Get("values");
  if (!values.IsTypedArray() ||
      values.As<Napi::TypedArray>().TypedArrayType() != napi_float64_array) {
    fail(values, "a Float64Array", name + ".values");
  }
  const auto numbers = values.As<Napi::Float64Array>();
  return {.name = text(from, "name"),
          .shape = counts(from, "shape"),
          .values = {numbers.Data(), numbers.Data() + numbers.ElementLength()}};
}

std::vector<backend::ConstantInput> constant_inputs(const Napi::Object& from, const char* name) {
  return list(from.Get(name), "an array", name, constant_input);
}

}  // namespace

Source source_argument(const Napi::Object& from) {
  const std::string type = text(from, "type");
  if (type == "text-encoder") {
    return backend::TextModelSource{
        .model_type = text(from, "modelType"),
        .config = model_config(from),
        .head = text_head(from.Get("head")),
        .weight_files = texts(from, "weightFiles"),
        .tokenizer_directory = text(from, "tokenizerDirectory"),
        .tokenization = reading(from),
        .late_interaction = optional(late_interaction, from, "lateInteraction"),
        .adapter = optional(adapter, from, "adapter"),
        .task_adapters = optional(task_adapters, from, "taskAdapters"),
        .base_prefix = optional<std::string>(text, from, "basePrefix"),
        .entity_prompt = optional(entity_prompt, from, "entityPrompt"),
        .schema_prompt = optional(schema_prompt, from, "schemaPrompt"),
        .required_tokens =
            optional<std::vector<backend::RequiredToken>>(required_tokens, from, "requiredTokens"),
        .label_encoder = optional(label_encoder, from, "labelEncoder")};
  }
  if (type == "text-program") {
    return backend::TextProgramSource{.path = text(from, "path"),
                                      .tokenizer_directory = text(from, "tokenizerDirectory"),
                                      .num_labels = count(from, "numLabels"),
                                      .position_limit = count(from, "positionLimit"),
                                      .padding_id = optional(id, from, "paddingId"),
                                      .per_token = flag(from, "ofTokens"),
                                      .tokenization = reading(from)};
  }
  if (type == "signal-program") {
    return backend::SignalProgramSource{
        .path = text(from, "path"),
        .window_length = count(from, "windowLength"),
        .input_shape = optional(counts, from, "inputShape"),
        .constant_inputs = optional(constant_inputs, from, "constantInputs")};
  }
  fail(from.Get("type"), "\"text-encoder\", \"text-program\" or \"signal-program\"", "type");
}

}  // namespace node
