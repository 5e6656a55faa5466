#include "sources.h"

#include <map>
#include <utility>

#include "values.h"

namespace node {
namespace {

using backend::PoolingMode;

constexpr Named<PoolingMode> kPoolingModes[] = {
    {"cls", PoolingMode::kCls},
    {"max", PoolingMode::kMax},
    {"mean", PoolingMode::kMean},
    {"mean_sqrt_len_tokens", PoolingMode::kMeanSqrtLength},
    {"weightedmean", PoolingMode::kWeightedMean},
    {"lasttoken", PoolingMode::kLastToken}};
constexpr Named<bool> kStrategies[] = {{"max", false}, {"sum", true}};
constexpr Named<bool> kActivations[] = {{"relu", false}, {"log1p_relu", true}};

/// A matrix dimension. The product of two does not overflow.
int64_t size(const Napi::Object& from, const char* name) {
  constexpr double kMaxSize = 1 << 24;
  return static_cast<int64_t>(count(from, name, kMaxSize));
}

backend::Module pooling(const Napi::Object& from) {
  return backend::PoolingModule{.modes = list(from.Get("modes"), "an array of strings", "modes",
                                              [](const Napi::Value& mode, const std::string& name) {
                                                return choice<PoolingMode>(mode, name, {},
                                                                           kPoolingModes);
                                              }),
                                .include_prompt = flag(from, "includePrompt")};
}

backend::Module dense(const Napi::Object& from) {
  return backend::DenseModule{.weight_files = texts(from, "weightFiles"),
                              .in_features = size(from, "inFeatures"),
                              .out_features = size(from, "outFeatures"),
                              .bias = flag(from, "bias"),
                              .activation = text(from, "activation"),
                              .residual = flag(from, "residual")};
}

backend::Module layer_norm(const Napi::Object& from) {
  return backend::LayerNormModule{.weight_files = texts(from, "weightFiles"),
                                  .dimension = size(from, "dimension")};
}

backend::Module normalize(const Napi::Object& /*from*/) { return backend::NormalizeModule{}; }

constexpr Named<backend::Module (*)(const Napi::Object&)> kModules[] = {
    {"pooling", pooling}, {"dense", dense}, {"layer-norm", layer_norm}, {"normalize", normalize}};

/// SentenceModule of src/native/binding.ts.
backend::Module module(const Napi::Value& value, const std::string& name) {
  const Napi::Object from = object(value, name);
  return choice<backend::Module (*)(const Napi::Object&)>(from.Get("type"), name + ".type", {},
                                                          kModules)(from);
}

backend::TextHead sequence_classification(const Napi::Object& /*from*/) {
  return backend::SequenceClassificationHead{};
}

backend::TextHead token_classification(const Napi::Object& /*from*/) {
  return backend::TokenClassificationHead{};
}

backend::TextHead masked_lm(const Napi::Object& from) {
  return backend::MaskedLmHead{
      .sum = choice<bool>(from.Get("pooling"), "pooling", {}, kStrategies),
      .log_twice = choice<bool>(from.Get("activation"), "activation", {}, kActivations)};
}

/// An id, or a text.
backend::TokenName token_name(const Napi::Object& from, const char* name) {
  if (from.Get(name).IsString()) return text(from, name);
  const std::optional<int64_t> number = id(from, name);
  if (!number) fail(from.Get(name), "a token", name);
  return *number;
}

backend::TextHead logit_score(const Napi::Object& from) {
  backend::LogitScoreHead head{.true_token = token_name(from, "trueToken"), .false_token = {}};
  if (!from.Get("falseToken").IsUndefined()) head.false_token = token_name(from, "falseToken");
  return head;
}

backend::TextHead embedding(const Napi::Object& from) {
  return backend::EmbeddingHead{list(from.Get("modules"), "an array", "modules", module)};
}

backend::TextHead bge_m3(const Napi::Object& from) {
  return backend::BgeM3Head{.sparse_files = texts(from, "sparseFiles"),
                            .colbert_files = texts(from, "colbertFiles"),
                            .normalizes = flag(from, "normalizes")};
}

constexpr Named<backend::SpanMode> kSpanModes[] = {{"marker", backend::SpanMode::kMarker},
                                                   {"markerV0", backend::SpanMode::kMarkerV0},
                                                   {"markerV1", backend::SpanMode::kMarkerV1},
                                                   {"markerV2", backend::SpanMode::kMarkerV2},
                                                   {"token_level", backend::SpanMode::kTokenLevel}};

constexpr Range kLstmLayers{.min = 0, .max = 16};
constexpr Range kLayers{.min = 0, .max = 1000};

backend::TextHead gliner(const Napi::Object& from) {
  return backend::GlinerHead{
      .mode = choice<backend::SpanMode>(from.Get("mode"), "mode", {}, kSpanModes),
      .hidden_size = size(from, "hiddenSize"),
      .max_width = size(from, "maxWidth"),
      .lstm_layers =
          static_cast<int64_t>(number(from.Get("lstmLayers"), kLstmLayers, "lstmLayers"))};
}

constexpr Named<backend::CountLayerType> kCountLayers[] = {
    {"count_lstm", backend::CountLayerType::kPlain},
    {"count_lstm_v2", backend::CountLayerType::kTransformer},
    {"count_lstm_moe", backend::CountLayerType::kMixture}};
constexpr Range kTemperatures{.min = 1e-6, .max = 1e6};

backend::TextHead gliner2(const Napi::Object& from) {
  backend::Gliner2Head head{
      .counting = {},
      .max_width = size(from, "maxWidth"),
      .classifier_output = text(from, "classifierOutput"),
      .temperature = number(from.Get("temperature"), kTemperatures, "temperature")};
  if (!from.Get("counting").IsUndefined()) {
    head.counting =
        choice<backend::CountLayerType>(from.Get("counting"), "counting", {}, kCountLayers);
  }
  return head;
}

backend::TextHead laya(const Napi::Object& from) {
  return backend::LayaHead{
      .layers = static_cast<int64_t>(number(from.Get("layers"), kLayers, "layers")),
      .actions = size(from, "actions")};
}

constexpr Named<backend::LabelScorer> kLabelScorers[] = {
    {"simple", backend::LabelScorer::kDot},
    {"weighted-dot", backend::LabelScorer::kWeightedDot},
    {"mlp", backend::LabelScorer::kMlp},
    {"hopfield", backend::LabelScorer::kHopfield},
    {"cross-attn", backend::LabelScorer::kCrossAttention}};
constexpr Named<backend::TextPooling> kTextPoolings[] = {
    {"first", backend::TextPooling::kFirst},    {"last", backend::TextPooling::kLast},
    {"max", backend::TextPooling::kMax},        {"avg", backend::TextPooling::kMean},
    {"sum", backend::TextPooling::kSum},        {"rms", backend::TextPooling::kRootMeanSquare},
    {"abs_max", backend::TextPooling::kAbsMax}, {"abs_avg", backend::TextPooling::kAbsMean},
    {"pass", backend::TextPooling::kNone}};

backend::TextHead gliclass(const Napi::Object& from) {
  return backend::GliclassHead{
      .scorer = choice<backend::LabelScorer>(from.Get("scorer"), "scorer", {}, kLabelScorers),
      .pooling = choice<backend::TextPooling>(from.Get("pooling"), "pooling", {}, kTextPoolings),
      .averages_label = flag(from, "averagesLabel"),
      .omits_label_token = flag(from, "omitsLabelToken"),
      .text_from_separator = flag(from, "textFromSeparator"),
      .has_lstm = flag(from, "hasLstm"),
      .normalizes = flag(from, "normalizes"),
      .activation = text(from, "activation"),
      .hidden_size = size(from, "hiddenSize"),
      .attention_heads = size(from, "attentionHeads"),
      .mlp_size = size(from, "mlpSize")};
}

constexpr Named<backend::TextHead (*)(const Napi::Object&)> kHeads[] = {
    {"sequence-classification", sequence_classification},
    {"token-classification", token_classification},
    {"masked-lm", masked_lm},
    {"logit-score", logit_score},
    {"embedding", embedding},
    {"bge-m3", bge_m3},
    {"gliner", gliner},
    {"gliner2", gliner2},
    {"laya", laya},
    {"gliclass", gliclass}};

/// TextHead of src/native/binding.ts.
backend::TextHead head(const Napi::Value& value) {
  const Napi::Object from = object(value, "head");
  return choice<backend::TextHead (*)(const Napi::Object&)>(from.Get("name"), "head.name", {},
                                                            kHeads)(from);
}

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
                               .selected = optional(id, given, "selected")};
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
        .head = head(from.Get("head")),
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
