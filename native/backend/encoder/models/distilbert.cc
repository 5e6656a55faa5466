// DistilBERT.
// Source: transformers, models/distilbert/modeling_distilbert.py (DistilBertModel).
#include "encoder/models/post_norm_encoder.h"

namespace backend::models {
namespace {

constexpr double kLayerNormEpsilon =
    1e-12;  // a constant in the reference, not an option of config.json

constexpr nn::EncoderLayerKeys kLayerKeys{
    .query = "attention.q_lin",
    .key = "attention.k_lin",
    .value = "attention.v_lin",
    .attention_output = "attention.out_lin",
    .attention_norm = "sa_layer_norm",
    .feed_forward_in = "ffn.lin1",
    .feed_forward_out = "ffn.lin2",
    .output_norm = "output_layer_norm",
};

nn::EncoderShape shape_of(const ModelConfig& config) {
  return {
      .hidden_size = config.positive_integer("dim"),
      .num_attention_heads = config.positive_integer("n_heads"),
      .intermediate_size = config.positive_integer("hidden_dim"),
      .layer_norm_epsilon = kLayerNormEpsilon,
      .activation = nn::activation_by_name(config.string_or("activation", "gelu"), "activation"),
  };
}

}  // namespace

std::unique_ptr<Encoder> make_distilbert(const ModelConfig& config, const Weights& weights) {
  const nn::EncoderShape shape = shape_of(config);
  auto encoder =
      std::make_unique<PostNormEncoder>(weights, bert_tables(config, shape.hidden_size), shape);
  encoder->layers = nn::make_encoder_layers(weights / "transformer.layer",
                                            config.layer_count("n_layers"), shape, kLayerKeys);
  return encoder;
}

}  // namespace backend::models
