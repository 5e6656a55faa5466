// Encoders of Jina AI: JinaBert (v2, ALiBi) and jina-embeddings-v3 (rotary positions).
#include "encoder/models/post_norm_rotary_encoder.h"

namespace backend::models {
namespace {

/// Source: modeling_bert.py of jinaai/jina-bert-implementation.
constexpr PostNormRotaryKeys kBertKeys{.embeddings_norm = "embeddings.LayerNorm",
                                       .layers = "encoder.layer",
                                       .query_key_value = nullptr,
                                       .query = "attention.self.query",
                                       .key = "attention.self.key",
                                       .value = "attention.self.value",
                                       .attention_output = "attention.output.dense",
                                       .attention_norm = "attention.output.LayerNorm",
                                       .gate_and_up = "mlp.gated_layers",
                                       .gate = nullptr,
                                       .up = nullptr,
                                       .down = "mlp.wo",
                                       .output_norm = "mlp.layernorm",
                                       .is_gate_first = true};

/// Source: modeling_bert.py of jinaai/jina-bert-v2-qk-post-norm.
constexpr PostNormRotaryKeys kCodeKeys{.embeddings_norm = "embeddings.LayerNorm",
                                       .layers = "encoder.layer",
                                       .query_key_value = nullptr,
                                       .query = "attention.self.query",
                                       .key = "attention.self.key",
                                       .value = "attention.self.value",
                                       .attention_output = "attention.output.dense",
                                       .attention_norm = "layer_norm_1",
                                       .gate_and_up = "mlp.up_gated_layer",
                                       .gate = nullptr,
                                       .up = nullptr,
                                       .down = "mlp.down_layer",
                                       .output_norm = "layer_norm_2",
                                       .is_gate_first = false,
                                       .query_norm = "attention.self.layer_norm_q",
                                       .key_norm = "attention.self.layer_norm_k"};

/// Source: transformers, models/jina_embeddings_v3/modeling_jina_embeddings_v3.py
/// (JinaEmbeddingsV3Model).
constexpr PostNormRotaryKeys kV3Keys{.embeddings_norm = "embeddings.LayerNorm",
                                     .layers = "layers",
                                     .query_key_value = nullptr,
                                     .query = "self_attn.q_proj",
                                     .key = "self_attn.k_proj",
                                     .value = "self_attn.v_proj",
                                     .attention_output = "self_attn.o_proj",
                                     .attention_norm = "post_attention_layernorm",
                                     .gate_and_up = nullptr,
                                     .gate = nullptr,
                                     .up = "mlp.fc1",
                                     .down = "mlp.fc2",
                                     .output_norm = "post_mlp_layernorm"};

/// The names of jinaai/xlm-roberta-flash-implementation, by conversion_mapping.py.
constexpr PostNormRotaryKeys kV3OriginalKeys{.embeddings_norm = "emb_ln",
                                             .layers = "encoder.layers",
                                             .query_key_value = "mixer.Wqkv",
                                             .query = nullptr,
                                             .key = nullptr,
                                             .value = nullptr,
                                             .attention_output = "mixer.out_proj",
                                             .attention_norm = "norm1",
                                             .gate_and_up = nullptr,
                                             .gate = nullptr,
                                             .up = "mlp.fc1",
                                             .down = "mlp.fc2",
                                             .output_norm = "norm2"};

}  // namespace

std::unique_ptr<Encoder> make_jina_bert(const ModelConfig& config, const Weights& weights) {
  const bool is_code = weights.has("encoder.layer.0.layer_norm_1.weight");
  return std::make_unique<PostNormRotaryEncoder>(
      config, weights, is_code ? kCodeKeys : kBertKeys,
      PostNormRotaryBiases{
          .attention = nn::Bias::kYes, .up = nn::Bias::kNo, .down = nn::Bias::kYes},
      PostNormRotaryEncoder::Defaults{.activation = "gelu", .epsilon = 1e-12, .theta = 0});
}

std::unique_ptr<Encoder> make_jina_embeddings_v3(const ModelConfig& config,
                                                 const Weights& weights) {
  constexpr double kTheta = 20'000;
  const bool is_original = weights.has("emb_ln.weight");
  return std::make_unique<PostNormRotaryEncoder>(
      config, weights, is_original ? kV3OriginalKeys : kV3Keys,
      PostNormRotaryBiases{
          .attention = nn::Bias::kYes, .up = nn::Bias::kYes, .down = nn::Bias::kYes},
      PostNormRotaryEncoder::Defaults{.activation = "gelu", .epsilon = 1e-5, .theta = kTheta});
}

}  // namespace backend::models
