// BERT, and ERNIE, which adds an embedding of the task.
// Source: transformers, models/bert/modeling_bert.py (BertModel) and
// models/ernie/modeling_ernie.py (ErnieModel).
#include "encoder/models/post_norm_encoder.h"

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

std::unique_ptr<PostNormEncoder> make_bert_encoder(const ModelConfig& config,
                                                   const Weights& weights, int64_t embedding_size) {
  const nn::EncoderShape shape = bert_shape(config);
  nn::InputEmbeddingsShape tables = bert_tables(config, embedding_size);
  tables.token_types = config.positive_integer("type_vocab_size");
  if (config.boolean_or("use_task_id", false)) {
    tables.task_types = config.count_or("task_type_vocab_size", 3);
  }
  auto encoder = std::make_unique<PostNormEncoder>(weights, tables, shape);
  encoder->layers = nn::make_encoder_layers(
      weights / "encoder.layer", config.layer_count("num_hidden_layers"), shape, kLayerKeys);
  config.require_one_of("position_embedding_type", {"absolute"});
  if (embedding_size != shape.hidden_size) {
    encoder->projection.emplace(weights / "embeddings_project", embedding_size, shape.hidden_size);
  }
  return encoder;
}

std::unique_ptr<Encoder> make_bert(const ModelConfig& config, const Weights& weights) {
  return make_bert_encoder(config, weights, config.positive_integer("hidden_size"));
}

}  // namespace backend::models
