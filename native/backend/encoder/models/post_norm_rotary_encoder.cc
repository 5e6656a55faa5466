#include "encoder/models/post_norm_rotary_encoder.h"

#include <cmath>
#include <string>
#include <utility>
#include <variant>

namespace backend::models {
namespace {

nn::Linear make_query_key_value(const Weights& weights, const PostNormRotaryKeys& keys,
                                const nn::HeadShape& shape, int64_t hidden, nn::Bias bias) {
  const int64_t size = shape.query_size();
  if (keys.query_key_value != nullptr) {
    return {weights / keys.query_key_value, hidden, 3 * size, bias};
  }
  return nn::Linear::fused(
      {{weights / keys.query, size}, {weights / keys.key, size}, {weights / keys.value, size}},
      hidden, bias);
}

/// Feed-forward network without a gate.
struct Mlp {
  nn::Linear up, down;
  nn::Activation activation;
};

using FeedForward = std::variant<nn::GatedMlp, Mlp>;

FeedForward make_feed_forward(const ModelConfig& config, const Weights& weights,
                              const PostNormRotaryKeys& keys, const PostNormRotaryBiases& biases,
                              const PostNormRotaryEncoder::Defaults& defaults) {
  const int64_t hidden = config.positive_integer("hidden_size");
  const int64_t inner = config.positive_integer("intermediate_size");
  const nn::Activation activation =
      nn::activation_by_name(config.string_or("hidden_act", defaults.activation), "hidden_act");
  nn::Linear down(weights / keys.down, inner, hidden, biases.down);
  if (keys.gate_and_up != nullptr) {
    const nn::Linear both(weights / keys.gate_and_up, hidden, 2 * inner, biases.up);
    const nn::Linear first = both.slice(0, inner), second = both.slice(inner, inner);
    return nn::GatedMlp(keys.is_gate_first ? first : second, keys.is_gate_first ? second : first,
                        std::move(down), activation);
  }
  nn::Linear up(weights / keys.up, hidden, inner, biases.up);
  if (keys.gate == nullptr) return Mlp{std::move(up), std::move(down), activation};
  return nn::GatedMlp(nn::Linear(weights / keys.gate, hidden, inner, biases.up), std::move(up),
                      std::move(down), activation);
}

/// Slopes of ALiBi: powers of 2^(−8 / n) for n heads, if n is a power of 2. Otherwise the slopes of
/// the next lower power of 2, then every second slope of twice as many heads.
/// Source: "Train Short, Test Long" (Press et al., 2022), attention_with_linear_biases.
std::vector<float> alibi_slopes(int64_t heads) {
  int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  const auto slope = [](int64_t index, int64_t of) {
    return static_cast<float>(
        std::exp2(-8.0 * static_cast<double>(index + 1) / static_cast<double>(of)));
  };
  std::vector<float> slopes;
  slopes.reserve(static_cast<size_t>(heads));
  for (int64_t i = 0; i < power; ++i) slopes.push_back(slope(i, power));
  for (int64_t i = 0; power + i < heads; ++i) slopes.push_back(slope(2 * i, 2 * power));
  return slopes;
}

}  // namespace

/// A layer: attention and the feed-forward network, each followed by the sum with its input and a
/// layer norm.
class PostNormRotaryEncoder::Layer {
 public:
  Layer(const ModelConfig& config, const Weights& weights, const PostNormRotaryKeys& keys,
        const PostNormRotaryBiases& biases, const Defaults& defaults,
        std::span<const float> distance_slopes)
      : shape_(config),
        hidden_(config.positive_integer("hidden_size")),
        attention_(shape_, make_query_key_value(weights, keys, shape_, hidden_, biases.attention),
                   {.distance_slopes = distance_slopes}),
        attention_output_(weights / keys.attention_output, shape_.query_size(), hidden_,
                          biases.attention),
        attention_norm_(weights / keys.attention_norm, hidden_, epsilon(config, defaults)),
        feed_forward_(make_feed_forward(config, weights, keys, biases, defaults)),
        output_norm_(weights / keys.output_norm, hidden_, epsilon(config, defaults)) {
    if (keys.query_norm != nullptr) {
      const int64_t size = shape_.query_size();
      attention_.set_norms(
          nn::LayerNorm(weights / keys.query_norm, size, epsilon(config, defaults)),
          nn::LayerNorm(weights / keys.key_norm, size, epsilon(config, defaults)));
    }
  }

  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch,
                        const nn::RotaryEmbedding::Angles* angles, nn::OutputTokens outputs) const {
    const at::Tensor context = attention_(hidden, batch, angles, outputs);
    const at::Tensor attended = attention_norm_.normalize_sum(
        attention_output_(context), nn::gather_output_rows(hidden, batch, outputs));
    return output_norm_.normalize_sum(feed_forward(attended), attended);
  }

 private:
  static double epsilon(const ModelConfig& config, const Defaults& defaults) {
    return config.epsilon_or("layer_norm_eps", defaults.epsilon);
  }

  at::Tensor feed_forward(const at::Tensor& input) const {
    if (const auto* const gated = std::get_if<nn::GatedMlp>(&feed_forward_)) return (*gated)(input);
    const auto& mlp = std::get<Mlp>(feed_forward_);
    return mlp.down(mlp.up(input, mlp.activation));
  }

  nn::HeadShape shape_;
  int64_t hidden_;
  nn::RotaryAttention attention_;
  nn::Linear attention_output_;
  nn::LayerNorm attention_norm_;
  FeedForward feed_forward_;
  nn::LayerNorm output_norm_;
};

PostNormRotaryEncoder::PostNormRotaryEncoder(const ModelConfig& config, const Weights& weights,
                                             const PostNormRotaryKeys& keys,
                                             const PostNormRotaryBiases& biases,
                                             const Defaults& defaults)
    : sizes_{.max_length = rotary_position_limit(config),
             .vocabulary_size = config.positive_integer("vocab_size"),
             .token_types = config.count_or("type_vocab_size", 0),
             .hidden_size = config.positive_integer("hidden_size")},
      embeddings_(weights / "embeddings", {.words = sizes_.vocabulary_size,
                                           .positions = 0,
                                           .token_types = sizes_.token_types,
                                           .size = sizes_.hidden_size}),
      embeddings_norm_(weights / keys.embeddings_norm, sizes_.hidden_size,
                       config.epsilon_or("layer_norm_eps", defaults.epsilon)) {
  const nn::HeadShape shape(config);
  if (defaults.theta != 0) {
    rotary_ = nn::make_rotary(config, shape.head_size, defaults.theta);
  } else {
    distance_slopes_ = alibi_slopes(shape.heads);
  }
  const int64_t count = config.layer_count("num_hidden_layers");
  const Weights layers = weights / keys.layers;
  for (int64_t i = 0; i < count; ++i) {
    layers_.push_back(std::make_shared<const Layer>(config, layers / std::to_string(i), keys,
                                                    biases, defaults, distance_slopes_));
  }
}

at::Tensor PostNormRotaryEncoder::operator()(const nn::PackedBatch& batch,
                                             nn::OutputTokens outputs) const {
  std::optional<nn::RotaryEmbedding::Angles> angles;
  if (rotary_) angles = rotary_->angles(batch);
  at::Tensor hidden = embeddings_norm_(embeddings_(batch.input_ids, {}, batch.token_type_ids));
  for (const auto& layer : layers_) {
    const bool is_last = layer == layers_.back();
    hidden = (*layer)(hidden, batch, angles ? &*angles : nullptr,
                      is_last ? outputs : nn::OutputTokens::kAllTokens);
  }
  return hidden;
}

}  // namespace backend::models
