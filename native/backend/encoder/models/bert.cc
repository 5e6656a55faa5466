// BERT, ERNIE (BERT with a task-type embedding), ELECTRA and RoBERTa.
// Source: transformers, models/bert/modeling_bert.py (BertModel) and models/ernie/modeling_ernie.py
// (ErnieModel).
#include "common/error.h"
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

/// ELECTRA: BERT with embeddings that may be narrower than its hidden states.
/// Source: transformers, models/electra/modeling_electra.py (ElectraModel).
std::unique_ptr<Encoder> make_electra(const ModelConfig& config, const Weights& weights) {
  constexpr int64_t kDefaultEmbeddingSize = 128;
  const int64_t size = config.integer_or("embedding_size", kDefaultEmbeddingSize);
  return make_bert_encoder(
      config, weights,
      size == kDefaultEmbeddingSize ? size : config.positive_integer("embedding_size"));
}

/// RoBERTa, XLM-RoBERTa, CamemBERT and data2vec-text, which are the same network.
/// Source: transformers, models/roberta/modeling_roberta.py (RobertaModel) and
/// models/data2vec/modeling_data2vec_text.py (Data2VecTextModel).
std::unique_ptr<Encoder> make_roberta(const ModelConfig& config, const Weights& weights) {
  auto encoder = make_bert_encoder(config, weights, config.positive_integer("hidden_size"));
  encoder->padding_id = config.count_or("pad_token_id", 1);
  if (encoder->sizes().max_length < 1) {
    throw common::LoadError(
        "config.json: max_position_embeddings: leaves no position above pad_token_id");
  }
  return encoder;
}

}  // namespace backend::models
