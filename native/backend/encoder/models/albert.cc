// ALBERT: encoder with layers that share weights.
// Source: transformers, models/albert/modeling_albert.py (AlbertModel).
#include "common/error.h"
#include "encoder/models/post_norm_encoder.h"

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

/// The layers in execution order.
std::vector<nn::EncoderLayer> make_layers(const ModelConfig& config, const Weights& weights,
                                          const nn::EncoderShape& shape) {
  const int64_t count = config.layer_count("num_hidden_layers");
  const int64_t num_groups = config.integer_or("num_hidden_groups", 1);
  if (num_groups < 1 || num_groups > count) {
    throw common::LoadError(
        "config.json: num_hidden_groups: expected 1 to num_hidden_layers, received " +
        std::to_string(num_groups));
  }
  const int64_t group_size = config.integer_or("inner_group_num", 1);
  if (group_size < 1) {
    throw common::LoadError("config.json: inner_group_num: expected 1 or more, received " +
                            std::to_string(group_size));
  }
  if (group_size > 1) config.layer_count("inner_group_num");  // throws if there are too many
  std::vector<std::vector<nn::EncoderLayer>> groups;
  for (int64_t i = 0; i < num_groups; ++i) {
    const Weights group = weights / ("encoder.albert_layer_groups." + std::to_string(i));
    groups.push_back(
        nn::make_encoder_layers(group / "albert_layers", group_size, shape, kLayerKeys));
  }
  std::vector<nn::EncoderLayer> layers;
  // Floating point as in the reference: integer division can select the neighboring group.
  const double layers_per_group = static_cast<double>(count) / static_cast<double>(num_groups);
  for (int64_t i = 0; i < count; ++i) {
    const auto& group = groups[static_cast<size_t>(static_cast<double>(i) / layers_per_group)];
    layers.insert(layers.end(), group.begin(), group.end());
  }
  return layers;
}

}  // namespace

std::unique_ptr<Encoder> make_albert(const ModelConfig& config, const Weights& weights) {
  const nn::EncoderShape shape = bert_shape(config, kDefaultEpsilon, "gelu_new");
  const int64_t embedding_size = config.positive_integer("embedding_size");
  nn::InputEmbeddingsShape tables = bert_tables(config, embedding_size);
  tables.token_types = config.positive_integer("type_vocab_size");
  auto encoder = std::make_unique<PostNormEncoder>(weights, tables, shape);
  encoder->projection.emplace(weights / "encoder.embedding_hidden_mapping_in", embedding_size,
                              shape.hidden_size);
  encoder->layers = make_layers(config, weights, shape);
  return encoder;
}

}  // namespace backend::models
