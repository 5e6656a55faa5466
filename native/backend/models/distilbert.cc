// DistilBERT for sequence classification.
// Source: transformers, models/distilbert/modeling_distilbert.py
// (DistilBertForSequenceClassification).
#include <ATen/ops/index_select.h>
#include <ATen/ops/relu.h>

#include "models/sequence_classifier.h"
#include "nn/embedding.h"
#include "nn/encoder_layer.h"

namespace backend::models {
namespace {

constexpr double kLayerNormEpsilon = 1e-12;  // fixed in the reference, not in the configuration

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

class DistilBert final : public SequenceClassifier {
 public:
  DistilBert(const ModelConfig& config, const Weights& weights)
      : DistilBert(config, weights, weights / "distilbert", shape_of(config)) {}

  at::Tensor forward(const nn::PackedBatch& batch) const override {
    at::Tensor hidden = word_embeddings_(batch.input_ids);
    hidden += position_embeddings_(batch.position_ids());
    hidden = embeddings_norm_(hidden);
    for (const auto& layer : layers_) hidden = layer(hidden, batch);
    const at::Tensor first = at::index_select(hidden, 0, batch.first_token_rows());
    return classifier_(at::relu(pre_classifier_(first)));
  }

  int64_t max_length() const override { return position_embeddings_.rows(); }
  int64_t vocabulary_size() const override { return word_embeddings_.rows(); }

 private:
  DistilBert(const ModelConfig& config, const Weights& weights, const Weights& distilbert,
             const nn::EncoderShape& shape)
      : word_embeddings_(distilbert / "embeddings.word_embeddings",
                         config.positive_integer("vocab_size"), shape.hidden_size),
        position_embeddings_(distilbert / "embeddings.position_embeddings",
                             config.positive_integer("max_position_embeddings"), shape.hidden_size),
        embeddings_norm_(distilbert / "embeddings.LayerNorm", shape.hidden_size,
                         shape.layer_norm_epsilon),
        layers_(nn::make_encoder_layers(distilbert / "transformer.layer",
                                        config.positive_integer("n_layers"), shape, kLayerKeys)),
        pre_classifier_(weights / "pre_classifier", shape.hidden_size, shape.hidden_size),
        classifier_(weights / "classifier", shape.hidden_size,
                    config.positive_integer("num_labels")) {
    distilbert.ignore("embeddings.position_ids");
  }

  nn::Embedding word_embeddings_;
  nn::Embedding position_embeddings_;
  nn::LayerNorm embeddings_norm_;
  std::vector<nn::EncoderLayer> layers_;
  nn::Linear pre_classifier_;
  nn::Linear classifier_;
};

}  // namespace

std::unique_ptr<SequenceClassifier> make_distilbert(const ModelConfig& config,
                                                    const Weights& weights) {
  return std::make_unique<DistilBert>(config, weights);
}

}  // namespace backend::models
