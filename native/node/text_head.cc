#include "text_head.h"

#include <cstdint>
#include <optional>
#include <string>

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

/// SentenceModule of src/native/binding/heads.ts.
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

}  // namespace

backend::TextHead text_head(const Napi::Value& value) {
  const Napi::Object from = object(value, "head");
  return choice<backend::TextHead (*)(const Napi::Object&)>(from.Get("name"), "head.name", {},
                                                            kHeads)(from);
}

}  // namespace node
