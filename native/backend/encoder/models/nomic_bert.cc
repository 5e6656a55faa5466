// NomicBert: rotary positions and SwiGLU, without biases.
// Source: transformers, models/nomic_bert/modeling_nomic_bert.py (NomicBertModel), and the names of
// nomic-ai/nomic-bert-2048 by conversion_mapping.py.
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

constexpr PostNormRotaryKeys kOriginalKeys{.embeddings_norm = "emb_ln",
                                           .layers = "encoder.layers",
                                           .query_key_value = "attn.Wqkv",
                                           .query = nullptr,
                                           .key = nullptr,
                                           .value = nullptr,
                                           .attention_output = "attn.out_proj",
                                           .attention_norm = "norm1",
                                           .gate_and_up = nullptr,
                                           .gate = "mlp.fc12",
                                           .up = "mlp.fc11",
                                           .down = "mlp.fc2",
                                           .output_norm = "norm2"};

}  // namespace

std::unique_ptr<Encoder> make_nomic_bert(const ModelConfig& config, const Weights& weights) {
  constexpr double kTheta = 1000;
  const bool is_original = weights.has("emb_ln.weight");
  return std::make_unique<PostNormRotaryEncoder>(
      config, weights, is_original ? kOriginalKeys : kKeys,
      PostNormRotaryBiases{.attention = nn::Bias::kNo, .up = nn::Bias::kNo, .down = nn::Bias::kNo},
      PostNormRotaryEncoder::Defaults{.activation = "silu", .epsilon = 1e-12, .theta = kTheta});
}

}  // namespace backend::models
