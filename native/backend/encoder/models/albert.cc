// ALBERT for sequence classification: few layers, each used several times.
// Source: transformers, models/albert/modeling_albert.py (AlbertForSequenceClassification).
#include "encoder/models/bert_encoder.h"
#include "encoder/models/sequence_classifier.h"
#include "encoder/nn/classification_head.h"
#include "encoder/nn/encoder_layer.h"
#include "encoder/nn/input_embeddings.h"

namespace backend::models {
namespace {

constexpr nn::EncoderLayerKeys kLayerKeys{
    .query = "attention.query",
    .key = "attention.key",
    .value = "attention.value",
    .attention_output = "attention.dense",
    .attention_norm = "attention.LayerNorm",
    .feed_forward_in = "ffn",
    .feed_forward_out = "ffn_output",
    .output_norm = "full_layer_layer_norm",
};

constexpr double kDefaultEpsilon = 1e-12;

class Albert final : public SequenceClassifier {
 public:
  Albert(const ModelConfig& config, const Weights& weights)
      : Albert(config, weights, weights / "albert",
               bert_encoder_shape(config, kDefaultEpsilon, "gelu_new"),
               config.positive_integer("embedding_size")) {}

  at::Tensor forward(const nn::PackedBatch& batch) const override {
    const at::Tensor embedded =
        embeddings_norm_(embeddings_(batch.input_ids, batch.position_ids(), batch.token_type_ids));
    return head_(nn::first_token_states(layers_, mapping_in_(embedded), batch));
  }

  int64_t max_length() const override { return embeddings_.positions(); }
  int64_t vocabulary_size() const override { return embeddings_.words(); }
  int64_t token_types() const override { return embeddings_.token_types(); }

 private:
  Albert(const ModelConfig& config, const Weights& weights, const Weights& albert,
         const nn::EncoderShape& shape, int64_t embedding_size)
      : embeddings_(albert / "embeddings",
                    {.words = config.positive_integer("vocab_size"),
                     .positions = config.positive_integer("max_position_embeddings"),
                     .token_types = config.positive_integer("type_vocab_size"),
                     .size = embedding_size}),
        embeddings_norm_(albert / "embeddings.LayerNorm", embedding_size, shape.layer_norm_epsilon),
        mapping_in_(albert / "encoder.embedding_hidden_mapping_in", embedding_size,
                    shape.hidden_size),
        head_(albert / "pooler", weights / "classifier", shape.hidden_size,
              config.positive_integer("num_labels"), nn::tanh) {
    const int64_t count = config.layer_count("num_hidden_layers");
    const int64_t num_groups = config.integer_or("num_hidden_groups", 1);
    if (num_groups < 1 || num_groups > count) {
      throw LoadError("config.json: num_hidden_groups: expected 1 to num_hidden_layers, received " +
                      std::to_string(num_groups));
    }
    const int64_t group_size = config.integer_or("inner_group_num", 1);
    if (group_size < 1) {
      throw LoadError("config.json: inner_group_num: expected 1 or more, received " +
                      std::to_string(group_size));
    }
    if (group_size > 1) config.layer_count("inner_group_num");  // refuses too many
    std::vector<std::vector<nn::EncoderLayer>> groups;
    for (int64_t i = 0; i < num_groups; ++i) {
      const Weights group = albert / ("encoder.albert_layer_groups." + std::to_string(i));
      groups.push_back(
          nn::make_encoder_layers(group / "albert_layers", group_size, shape, kLayerKeys));
    }
    // Floating-point numbers as in the reference: whole ones can give the neighbouring group.
    const double layers_per_group = static_cast<double>(count) / static_cast<double>(num_groups);
    for (int64_t i = 0; i < count; ++i) {
      const auto& group = groups[static_cast<size_t>(static_cast<double>(i) / layers_per_group)];
      layers_.insert(layers_.end(), group.begin(), group.end());
    }
  }

  nn::InputEmbeddings embeddings_;
  nn::LayerNorm embeddings_norm_;
  nn::Linear mapping_in_;
  std::vector<nn::EncoderLayer> layers_;  ///< in the order they run; repeated ones share weights
  nn::ClassificationHead head_;
};

}  // namespace

std::unique_ptr<SequenceClassifier> make_albert(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<Albert>(config, weights);
}

}  // namespace backend::models
