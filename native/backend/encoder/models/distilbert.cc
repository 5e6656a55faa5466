// DistilBERT for sequence classification.
// Source: transformers, models/distilbert/modeling_distilbert.py
// (DistilBertForSequenceClassification).
#include "encoder/models/sequence_classifier.h"
#include "encoder/nn/classification_head.h"
#include "encoder/nn/encoder_layer.h"
#include "encoder/nn/input_embeddings.h"

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
    const at::Tensor hidden =
        embeddings_norm_(embeddings_(batch.input_ids, batch.position_ids(), batch.token_type_ids));
    return head_(nn::first_token_states(layers_, hidden, batch));
  }

  int64_t max_length() const override { return embeddings_.positions(); }
  int64_t vocabulary_size() const override { return embeddings_.words(); }
  int64_t token_types() const override { return embeddings_.token_types(); }

 private:
  DistilBert(const ModelConfig& config, const Weights& weights, const Weights& distilbert,
             const nn::EncoderShape& shape)
      : embeddings_(distilbert / "embeddings",
                    {.words = config.positive_integer("vocab_size"),
                     .positions = config.positive_integer("max_position_embeddings"),
                     .token_types = 0,
                     .size = shape.hidden_size}),
        embeddings_norm_(distilbert / "embeddings.LayerNorm", shape.hidden_size,
                         shape.layer_norm_epsilon),
        layers_(nn::make_encoder_layers(distilbert / "transformer.layer",
                                        config.layer_count("n_layers"), shape, kLayerKeys)),
        head_(weights / "pre_classifier", weights / "classifier", shape.hidden_size,
              config.positive_integer("num_labels"), nn::relu) {}

  nn::InputEmbeddings embeddings_;
  nn::LayerNorm embeddings_norm_;
  std::vector<nn::EncoderLayer> layers_;
  nn::ClassificationHead head_;
};

}  // namespace

std::unique_ptr<SequenceClassifier> make_distilbert(const ModelConfig& config,
                                                    const Weights& weights) {
  return std::make_unique<DistilBert>(config, weights);
}

}  // namespace backend::models
