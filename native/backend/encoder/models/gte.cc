// GTE: rotary positions and GeGLU.
// Source: transformers, models/gte/modeling_gte.py (GteModel), and the names of
// Alibaba-NLP/new-impl by conversion_mapping.py.
#include "encoder/models/post_norm_rotary_encoder.h"

namespace backend::models {
namespace {

constexpr PostNormRotaryKeys kKeys{.embeddings_norm = "embeddings.LayerNorm",
                                   .layers = "layers",
                                   .query_key_value = nullptr,
                                   .query = "self_attn.q_proj",
                                   .key = "self_attn.k_proj",
                                   .value = "self_attn.v_proj",
                                   .attention_output = "self_attn.o_proj",
                                   .attention_norm = "post_attention_layernorm",
                                   .gate_and_up = nullptr,
                                   .gate = "mlp.gate_proj",
                                   .up = "mlp.up_proj",
                                   .down = "mlp.down_proj",
                                   .output_norm = "post_mlp_layernorm"};

constexpr PostNormRotaryKeys kOriginalKeys{.embeddings_norm = "embeddings.LayerNorm",
                                           .layers = "encoder.layer",
                                           .query_key_value = "attention.qkv_proj",
                                           .query = nullptr,
                                           .key = nullptr,
                                           .value = nullptr,
                                           .attention_output = "attention.o_proj",
                                           .attention_norm = "attn_ln",
                                           .gate_and_up = "mlp.up_gate_proj",
                                           .gate = nullptr,
                                           .up = nullptr,
                                           .down = "mlp.down_proj",
                                           .output_norm = "mlp_ln"};

}  // namespace

std::unique_ptr<Encoder> make_gte(const ModelConfig& config, const Weights& weights) {
  constexpr double kTheta = 160'000;
  const bool is_original = weights.has("encoder.layer.0.attn_ln.weight");
  return std::make_unique<PostNormRotaryEncoder>(
      config, weights, is_original ? kOriginalKeys : kKeys,
      PostNormRotaryBiases{
          .attention = nn::Bias::kYes, .up = nn::Bias::kNo, .down = nn::Bias::kYes},
      PostNormRotaryEncoder::Defaults{.activation = "gelu", .epsilon = 1e-12, .theta = kTheta});
}

}  // namespace backend::models
