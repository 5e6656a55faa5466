#include "models/bert_encoder.h"

#include <ATen/ops/index_select.h>

namespace backend::models {
namespace {

constexpr nn::EncoderLayerKeys kLayerKeys{
    .query = "attention.self.query",
    .key = "attention.self.key",
    .value = "attention.self.value",
    .attention_output = "attention.output.dense",
    .attention_norm = "attention.output.LayerNorm",
    .feed_forward_in = "intermediate.dense",
    .feed_forward_out = "output.dense",
    .output_norm = "output.LayerNorm",
};

nn::EncoderShape shape_of(const ModelConfig& config) {
  return {
      .hidden_size = config.positive_integer("hidden_size"),
      .num_attention_heads = config.positive_integer("num_attention_heads"),
      .intermediate_size = config.positive_integer("intermediate_size"),
      .layer_norm_epsilon = config.number_or("layer_norm_eps", 1e-12),
      .activation = nn::activation_by_name(config.string_or("hidden_act", "gelu"), "hidden_act"),
  };
}

}  // namespace

BertEncoder::BertEncoder(const ModelConfig& config, const Weights& weights)
    : shape_(shape_of(config)),
      word_embeddings_(weights / "embeddings.word_embeddings",
                       config.positive_integer("vocab_size"), shape_.hidden_size),
      position_embeddings_(weights / "embeddings.position_embeddings",
                           config.positive_integer("max_position_embeddings"), shape_.hidden_size),
      token_type_embeddings_(weights / "embeddings.token_type_embeddings",
                             config.positive_integer("type_vocab_size"), shape_.hidden_size),
      embeddings_norm_(weights / "embeddings.LayerNorm", shape_.hidden_size,
                       shape_.layer_norm_epsilon),
      layers_(nn::make_encoder_layers(weights / "encoder.layer",
                                      config.positive_integer("num_hidden_layers"), shape_,
                                      kLayerKeys)) {
  config.require_one_of("position_embedding_type", {"absolute"});
  weights.ignore("embeddings.position_ids");
}

at::Tensor BertEncoder::first_token_states(const nn::PackedBatch& batch,
                                           const at::Tensor& position_ids,
                                           const at::Tensor& token_type_ids) const {
  at::Tensor hidden = word_embeddings_(batch.input_ids);
  hidden += position_embeddings_(position_ids);
  hidden += token_type_embeddings_(token_type_ids);
  hidden = embeddings_norm_(hidden);
  for (const auto& layer : layers_) hidden = layer(hidden, batch);
  return at::index_select(hidden, 0, batch.first_token_rows());
}

}  // namespace backend::models
