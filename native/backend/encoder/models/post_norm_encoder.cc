#include "encoder/models/post_norm_encoder.h"

#include <span>

namespace backend::models {

EncoderSizes PostNormEncoder::sizes() const {
  return {.max_length = embeddings.positions() - (padding_id ? *padding_id + 1 : 0),
          .vocabulary_size = embeddings.words(),
          .token_types = embeddings.token_types(),
          .hidden_size = hidden_size};
}

at::Tensor PostNormEncoder::operator()(const nn::PackedBatch& batch,
                                       nn::OutputTokens outputs) const {
  const at::Tensor positions =
      padding_id ? batch.position_ids_after(*padding_id) : batch.position_ids();
  at::Tensor hidden = embeddings_norm(embeddings(batch.input_ids, positions, batch.token_type_ids));
  if (projection) hidden = (*projection)(hidden);
  std::vector<at::Tensor> biases;
  if (position_bias) {
    for (const auto& group : batch.groups) biases.push_back(position_bias(group.length));
  }
  for (const auto& layer : std::span(layers).first(layers.size() - 1)) {
    hidden = layer(hidden, batch, nn::OutputTokens::kAllTokens, biases);
  }
  return layers.back()(hidden, batch, outputs, biases);
}

nn::InputEmbeddingsShape bert_tables(const ModelConfig& config, int64_t size) {
  return {.words = config.positive_integer("vocab_size"),
          .positions = config.positive_integer("max_position_embeddings"),
          .token_types = 0,
          .size = size};
}

nn::EncoderShape bert_shape(const ModelConfig& config, double default_epsilon,
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

}  // namespace backend::models
