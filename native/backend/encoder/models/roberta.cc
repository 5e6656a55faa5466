// RoBERTa; XLM-RoBERTa and CamemBERT are the same network, and so is data2vec's text model under
// another name.
// Source: transformers, models/roberta/modeling_roberta.py (RobertaModel) and
// models/data2vec/modeling_data2vec_text.py (Data2VecTextModel).
#include "encoder/models/post_norm_encoder.h"

namespace backend::models {

std::unique_ptr<Encoder> make_roberta(const ModelConfig& config, const Weights& weights) {
  auto encoder = make_bert_encoder(config, weights, config.positive_integer("hidden_size"));
  encoder->padding_id = config.count_or("pad_token_id", 1);
  if (encoder->sizes().max_length < 1) {
    throw LoadError("config.json: max_position_embeddings: leaves no position above pad_token_id");
  }
  return encoder;
}

}  // namespace backend::models
