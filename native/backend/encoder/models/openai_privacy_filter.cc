// openai/privacy-filter: attention with sinks in a window on both sides, and a mixture of experts.
// Source: transformers, models/openai_privacy_filter/modeling_openai_privacy_filter.py
// (OpenAIPrivacyFilterModel).
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "encoder/models/encoder.h"
#include "encoder/nn/embeddings.h"
#include "encoder/nn/mixture_of_experts.h"
#include "encoder/nn/rms_norm.h"
#include "encoder/nn/rotary_attention.h"
#include "encoder/nn/yarn.h"

namespace backend::models {
namespace {

constexpr int64_t kHeadSize = 64, kWindow = 128, kExperts = 128, kExpertsPerToken = 4;
constexpr double kTheta = 150'000, kEpsilon = 1e-5, kAlpha = 1.702, kLimit = 7;

nn::RmsNorm make_norm(const ModelConfig& config, const Weights& weights) {
  return {weights, config.positive_integer("hidden_size"),
          config.epsilon_or("rms_norm_eps", kEpsilon)};
}

nn::MixtureOfExperts make_experts(const ModelConfig& config, const Weights& weights) {
  const auto positive_or = [&](const char* key, int64_t fallback) {
    const int64_t value = config.integer_or(key, fallback);
    if (value < 1) {
      throw common::LoadError(std::string("config.json: ") + key +
                              ": expected 1 or more, received " + std::to_string(value));
    }
    return value;
  };
  return {weights,
          {.hidden_size = config.positive_integer("hidden_size"),
           .inner_size = config.positive_integer("intermediate_size"),
           .experts = positive_or("num_local_experts", kExperts),
           .experts_per_token = positive_or("num_experts_per_tok", kExpertsPerToken),
           .alpha = static_cast<float>(config.positive_number_or("swiglu_alpha", kAlpha)),
           .limit = static_cast<float>(config.positive_number_or("swiglu_limit", kLimit))}};
}

class Layer {
 public:
  Layer(const ModelConfig& config, const Weights& weights)
      : shape_(config, kHeadSize),
        sinks_(weights.get("self_attn.sinks", {shape_.heads})),
        attention_norm_(make_norm(config, weights / "input_layernorm")),
        attention_(shape_, make_query_key_value(config, weights / "self_attn", shape_),
                   {.window = config.count_or("sliding_window", kWindow),
                    .sinks = {sinks_.const_data_ptr<float>(), static_cast<size_t>(shape_.heads)}}),
        attention_output_(weights / "self_attn.o_proj", shape_.query_size(),
                          config.positive_integer("hidden_size"), attention_bias(config)),
        mlp_norm_(make_norm(config, weights / "post_attention_layernorm")),
        mlp_(make_experts(config, weights / "mlp")) {}

  /// [tokens, hidden] → [tokens, hidden], written to the input.
  at::Tensor operator()(at::Tensor hidden, const nn::PackedBatch& batch,
                        const nn::RotaryEmbedding::Angles& angles) const {
    const at::Tensor context =
        attention_(attention_norm_(hidden), batch, &angles, nn::OutputTokens::kAllTokens);
    hidden = attention_output_.add_to(hidden, context);
    return mlp_.add_to(hidden, mlp_norm_(hidden));
  }

 private:
  static nn::Bias attention_bias(const ModelConfig& config) {
    return config.boolean_or("attention_bias", true) ? nn::Bias::kYes : nn::Bias::kNo;
  }

  static nn::Linear make_query_key_value(const ModelConfig& config, const Weights& weights,
                                         const nn::HeadShape& shape) {
    return nn::Linear::fused(
        {{weights / "q_proj", shape.query_size(),
          nn::order_of_interleaved_pairs(shape.heads, shape.head_size)},
         {weights / "k_proj", shape.key_value_size(),
          nn::order_of_interleaved_pairs(shape.key_value_heads, shape.head_size)},
         {weights / "v_proj", shape.key_value_size()}},
        config.positive_integer("hidden_size"), attention_bias(config));
  }

  nn::HeadShape shape_;
  at::Tensor sinks_;  ///< [heads]; the memory stays in place if the layer is moved
  nn::RmsNorm attention_norm_;
  nn::RotaryAttention attention_;
  nn::Linear attention_output_;
  nn::RmsNorm mlp_norm_;
  nn::MixtureOfExperts mlp_;
};

nn::RotaryEmbedding make_rotary(const ModelConfig& config) {
  const int64_t head_size = nn::HeadShape(config, kHeadSize).head_size;
  return config.string_or("rope_parameters.rope_type", "default") == "yarn"
             ? nn::make_yarn_rotary(config, head_size, kTheta)
             : nn::make_rotary(config, head_size, kTheta);
}

class OpenAIPrivacyFilter final : public Encoder {
 public:
  OpenAIPrivacyFilter(const ModelConfig& config, const Weights& weights)
      : sizes_{.max_length = rotary_position_limit(config),
               .vocabulary_size = config.positive_integer("vocab_size"),
               .token_types = 0,
               .hidden_size = config.positive_integer("hidden_size"),
               .empty_id = 0},  // its logits are not read: a text without tokens has no spans
        embeddings_(weights / "embed_tokens", sizes_.vocabulary_size, sizes_.hidden_size),
        rotary_(make_rotary(config)),
        final_norm_(make_norm(config, weights / "norm")) {
    const int64_t count = config.layer_count("num_hidden_layers");
    for (int64_t i = 0; i < count; ++i) {
      layers_.emplace_back(config, weights / ("layers." + std::to_string(i)));
    }
  }

  EncoderSizes sizes() const override { return sizes_; }

  at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens outputs) const override {
    const auto angles = rotary_.angles(batch);
    at::Tensor hidden = embeddings_(batch.input_ids);
    for (const Layer& layer : layers_) hidden = layer(hidden, batch, angles);
    return final_norm_(nn::gather_output_rows(hidden, batch, outputs));
  }

 private:
  EncoderSizes sizes_;
  nn::Embedding embeddings_;
  nn::RotaryEmbedding rotary_;
  std::vector<Layer> layers_;
  nn::RmsNorm final_norm_;
};

}  // namespace

std::unique_ptr<Encoder> make_openai_privacy_filter(const ModelConfig& config,
                                                    const Weights& weights) {
  return std::make_unique<OpenAIPrivacyFilter>(config, weights);
}

}  // namespace backend::models
