#include "encoder/models/bert_encoder.h"

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

}  // namespace

nn::EncoderShape bert_encoder_shape(const ModelConfig& config, double default_epsilon,
                                    const char* default_activation) {
  return {
      .hidden_size = config.positive_integer("hidden_size"),
      .num_attention_heads = config.positive_integer("num_attention_heads"),
      .intermediate_size = config.positive_integer("intermediate_size"),
      .layer_norm_epsilon = config.epsilon_or("layer_norm_eps", default_epsilon),
      .activation =
          nn::activation_by_name(config.string_or("hidden_act", default_activation), "hidden_act"),
  };
}

BertEncoder::BertEncoder(const ModelConfig& config, const Weights& weights, int64_t embedding_size)
    : shape_(bert_encoder_shape(config)),
      embeddings_(weights / "embeddings",
                  {.words = config.positive_integer("vocab_size"),
                   .positions = config.positive_integer("max_position_embeddings"),
                   .token_types = config.positive_integer("type_vocab_size"),
                   .size = embedding_size,
                   .task_types = config.boolean_or("use_task_id", false)
                                     ? config.count_or("task_type_vocab_size", 3)
                                     : 0}),
      embeddings_norm_(weights / "embeddings.LayerNorm", embedding_size, shape_.layer_norm_epsilon),
      layers_(nn::make_encoder_layers(
          weights / "encoder.layer", config.layer_count("num_hidden_layers"), shape_, kLayerKeys)) {
  config.require_one_of("position_embedding_type", {"absolute"});
  if (embedding_size != shape_.hidden_size) {
    embeddings_project_.emplace(weights / "embeddings_project", embedding_size, shape_.hidden_size);
  }
}

at::Tensor BertEncoder::first_token_states(const nn::PackedBatch& batch,
                                           const at::Tensor& position_ids,
                                           const at::Tensor& token_type_ids) const {
  at::Tensor hidden = embeddings_norm_(embeddings_(batch.input_ids, position_ids, token_type_ids));
  if (embeddings_project_) hidden = (*embeddings_project_)(hidden);
  return nn::first_token_states(layers_, hidden, batch);
}

}  // namespace backend::models
