#include "encoder/registry.h"

#include <map>

#include "common/error.h"

namespace backend {
namespace {

using namespace models;
using heads::ClassifierPooling;
using heads::HeadKeys;
using heads::MaskedLmKeys;
using heads::TransformKeys;

constexpr HeadKeys bert_heads(const char* pooler) {
  return {.sequence_classification = {.transform = {.dense = pooler, .activation = "tanh"}},
          .masked_lm = {.transform = {.dense = "cls.predictions.transform.dense",
                                      .activation_key = "hidden_act",
                                      .norm = "cls.predictions.transform.LayerNorm"},
                        .decoder = "cls.predictions.decoder",
                        .bias = "cls.predictions"}};
}

constexpr HeadKeys kAlbertHeads{
    .sequence_classification = {.transform = {.dense = "albert.pooler", .activation = "tanh"}},
    .masked_lm = {.transform = {.dense = "predictions.dense",
                                .activation = "gelu_new",
                                .activation_key = "hidden_act",
                                .norm = "predictions.LayerNorm",
                                .size_key = "embedding_size"},
                  .decoder = "predictions.decoder",
                  .bias = "predictions"}};

constexpr MaskedLmKeys kDebertaMaskedLm{.transform = {.dense = "lm_predictions.lm_head.dense",
                                                      .activation_key = "hidden_act",
                                                      .norm = "lm_predictions.lm_head.LayerNorm",
                                                      .epsilon = 1e-7},
                                        .decoder = nullptr,
                                        .bias = "lm_predictions.lm_head"};

constexpr HeadKeys kDebertaHeads{
    .sequence_classification = {.transform = {.dense = "pooler.dense",
                                              .activation_key = "pooler_hidden_act"}},
    .masked_lm = {.transform = {.dense = "cls.predictions.transform.dense",
                                .activation_key = "hidden_act",
                                .norm = "cls.predictions.transform.LayerNorm",
                                .epsilon = 1e-7,
                                .size_key = "embedding_size"},
                  .decoder = "cls.predictions.decoder",
                  .bias = "cls.predictions"},
    .masked_lm_not_legacy = &kDebertaMaskedLm};

constexpr HeadKeys kDistilbertHeads{
    .sequence_classification = {.transform = {.dense = "pre_classifier", .activation = "relu"}},
    .masked_lm = {.transform = {.dense = "vocab_transform",
                                .activation_key = "activation",
                                .norm = "vocab_layer_norm",
                                .epsilon_key = nullptr},
                  .decoder = "vocab_projector"}};

constexpr HeadKeys kElectraHeads{
    .sequence_classification = {.transform = {.dense = "classifier.dense"},
                                .output = "classifier.out_proj"},
    .masked_lm = {.transform = {.dense = "generator_predictions.dense",
                                .norm = "generator_predictions.LayerNorm",
                                .size_key = "embedding_size"},
                  .decoder = "generator_lm_head"}};

constexpr TransformKeys kModernbertTransform{.dense = "head.dense",
                                             .activation_key = "classifier_activation",
                                             .norm = "head.norm",
                                             .epsilon_key = "norm_eps",
                                             .epsilon = 1e-5,
                                             .dense_bias_key = "classifier_bias",
                                             .norm_bias_key = "norm_bias"};

constexpr HeadKeys kModernbertHeads{
    .sequence_classification = {.transform = kModernbertTransform,
                                .pooling = ClassifierPooling::kByConfig},
    .masked_lm = {.transform = kModernbertTransform,
                  .decoder = "decoder",
                  .bias_key = "decoder_bias",
                  .word_embeddings = "embeddings.tok_embeddings"},
    .token_classification = {.transform = kModernbertTransform}};

constexpr HeadKeys kRobertaHeads{
    .sequence_classification = {.transform = {.dense = "classifier.dense", .activation = "tanh"},
                                .output = "classifier.out_proj"},
    .masked_lm = {.transform = {.dense = "lm_head.dense", .norm = "lm_head.layer_norm"},
                  .decoder = "lm_head.decoder",
                  .bias = "lm_head"}};

/// Source: transformers, models/gte/modeling_gte.py (GteForSequenceClassification).
constexpr HeadKeys gte_heads(const char* pooler) {
  return {.sequence_classification = {.transform = {.dense = pooler, .activation = "tanh"}},
          .masked_lm = {.transform = {.dense = "lm_head.dense", .norm = "lm_head.layer_norm"},
                        .decoder = "lm_head.decoder"}};
}

/// Source: transformers, models/eurobert/modeling_eurobert.py (EuroBertForSequenceClassification).
constexpr HeadKeys kEurobertHeads{
    .sequence_classification = {.transform = {.dense = "dense"},
                                .pooling = ClassifierPooling::kByConfig,
                                .default_pooling = "late"},
    .masked_lm = {.transform = {},
                  .decoder = "lm_head",
                  .bias_key = "mlp_bias",
                  .word_embeddings = "embed_tokens"}};

/// Source: transformers, modeling_layers.py (GenericForSequenceClassification,
/// GenericForTokenClassification).
constexpr HeadKeys kDecoderHeads{.sequence_classification = {.transform = {},
                                                             .output = "score",
                                                             .output_bias = nn::Bias::kNo,
                                                             .pooling = ClassifierPooling::kLast},
                                 .masked_lm = {.transform = {},
                                               .decoder = "lm_head",
                                               .bias_key = "mlp_bias",
                                               .word_embeddings = "embed_tokens"},
                                 .token_classification = {.transform = {}, .output = "score"}};

// Names of original code and in transformers. Source: transformers, conversion_mapping.py.
constexpr LayerNames kGteNames[] = {
    {"encoder.layer", {"layers"}},
    {"attention.o_proj", {"self_attn.o_proj"}},
    {"attn_ln", {"post_attention_layernorm"}},
    {"mlp_ln", {"post_mlp_layernorm"}},
    {"lm_head.norm", {"lm_head.layer_norm"}},
    {"attention.qkv_proj", {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}},
    {"mlp.up_gate_proj", {"mlp.up_proj", "mlp.gate_proj"}}};

constexpr LayerNames kJinaV3Names[] = {
    {"emb_ln", {"embeddings.LayerNorm"}},
    {"encoder.layers", {"layers"}},
    {"mixer.out_proj", {"self_attn.o_proj"}},
    {"norm1", {"post_attention_layernorm"}},
    {"norm2", {"post_mlp_layernorm"}},
    {"mixer.Wqkv", {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}}};

constexpr LayerNames kNomicNames[] = {
    {"emb_ln", {"embeddings.LayerNorm"}},
    {"encoder.layers", {"layers"}},
    {"attn.out_proj", {"self_attn.o_proj"}},
    {"fc11", {"up_proj"}},
    {"fc12", {"gate_proj"}},
    {"fc2", {"down_proj"}},
    {"norm1", {"post_attention_layernorm"}},
    {"norm2", {"post_mlp_layernorm"}},
    {"attn.Wqkv", {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}}};

using Families = std::map<std::string, Family>;

const Families& families() {
  using Tokenizer = tokenizers::Family;
  static const auto* table = new Families{
      {"albert", {make_albert, "albert", Tokenizer::Albert, kAlbertHeads}},
      {"bert", {make_bert, "bert", Tokenizer::Bert, bert_heads("bert.pooler.dense")}},
      {"camembert", {make_roberta, "roberta", Tokenizer::Camembert, kRobertaHeads}},
      {"data2vec-text", {make_roberta, "data2vec_text", Tokenizer::Roberta, kRobertaHeads}},
      {"deberta-v2", {make_deberta_v2, "deberta", Tokenizer::DebertaV2, kDebertaHeads}},
      {"distilbert", {make_distilbert, "distilbert", Tokenizer::Bert, kDistilbertHeads}},
      {"electra", {make_electra, "electra", Tokenizer::Bert, kElectraHeads}},
      {"ernie", {make_bert, "ernie", Tokenizer::Bert, bert_heads("ernie.pooler.dense")}},
      {"eurobert", {make_eurobert, "model", Tokenizer::TokenizerJson, kEurobertHeads}},
      {"gemma", {make_gemma, "model", Tokenizer::TokenizerJson, kDecoderHeads}},
      {"gemma3_text", {make_gemma3, "model", Tokenizer::TokenizerJson, kDecoderHeads}},
      {"gte",
       {make_gte,
        "gte",
        Tokenizer::XlmRoberta,
        gte_heads("gte.pooler.dense"),
        /*is_static=*/false,
        {.layers = kGteNames}}},
      {"jina_bert", {make_jina_bert, "bert", Tokenizer::Bert, bert_heads("bert.pooler.dense")}},
      {"jina_embeddings_v3",
       {make_jina_embeddings_v3,
        "roberta",
        Tokenizer::XlmRoberta,
        kRobertaHeads,
        /*is_static=*/false,
        {.layers = kJinaV3Names}}},
      {"lfm2", {make_lfm2, "model", Tokenizer::TokenizerJson, kDecoderHeads}},
      {"lfm2_bidirectional",
       {make_lfm2_bidirectional, "model", Tokenizer::TokenizerJson, kDecoderHeads}},
      {"modernbert", {make_modernbert, "model", Tokenizer::TokenizerJson, kModernbertHeads}},
      {"mpnet", {make_mpnet, "mpnet", Tokenizer::Mpnet, kRobertaHeads}},
      {"new",
       {make_gte,
        "new",
        Tokenizer::XlmRoberta,
        gte_heads("new.pooler.dense"),
        /*is_static=*/false,
        {.prefix = "gte", .layers = kGteNames}}},
      {"nomic_bert",
       {make_nomic_bert,
        "nomic_bert",
        Tokenizer::Bert,
        bert_heads("nomic_bert.pooler.dense"),
        /*is_static=*/false,
        {.layers = kNomicNames}}},
      {"openai_privacy_filter",
       {make_openai_privacy_filter, "model", Tokenizer::TokenizerJson, kDecoderHeads}},
      {"qwen2", {make_qwen2, "model", Tokenizer::TokenizerJson, kDecoderHeads}},
      {"qwen3", {make_qwen3, "model", Tokenizer::TokenizerJson, kDecoderHeads}},
      {"roberta", {make_roberta, "roberta", Tokenizer::Roberta, kRobertaHeads}},
      {"static-embedding",
       {make_static_embedding, "", Tokenizer::TokenizerJson, {}, /*is_static=*/true}},
      {"xlm-roberta", {make_roberta, "roberta", Tokenizer::XlmRoberta, kRobertaHeads}},
  };
  return *table;
}

}  // namespace

const Family& family_of(const std::string& model_type) {
  const auto it = families().find(model_type);
  if (it != families().end()) return it->second;
  std::string known;
  for (const auto& [each, _] : families()) known += (known.empty() ? "" : ", ") + each;
  throw common::LoadError("config.json: model_type: \"" + model_type + "\" is not supported (" +
                          known + ")");
}

}  // namespace backend
