#include "encoder/models/pre_norm_rotary_encoder.h"

#include <ATen/TensorOperators.h>

#include <cmath>
#include <string>
#include <utility>

#include "encoder/nn/gated_mlp.h"
#include "encoder/nn/shared_prefixes.h"

namespace backend::models {
namespace {

nn::Bias attention_bias(const ModelConfig& config) {
  return config.boolean_or("attention_bias", false) ? nn::Bias::kYes : nn::Bias::kNo;
}

nn::Linear make_query_key_value(const ModelConfig& config, const Weights& weights,
                                const nn::HeadShape& shape, const PreNormRotaryOptions& options) {
  return nn::Linear::fused({{weights / "q_proj", shape.query_size()},
                            {weights / "k_proj", shape.key_value_size()},
                            {weights / "v_proj", shape.key_value_size()}},
                           config.positive_integer("hidden_size"),
                           options.query_bias.value_or(attention_bias(config)));
}

nn::GatedMlp make_mlp(const ModelConfig& config, const Weights& weights,
                      const PreNormRotaryOptions& options) {
  const int64_t hidden = config.positive_integer("hidden_size");
  const int64_t inner = config.positive_integer("intermediate_size");
  const nn::Bias bias = config.boolean_or("mlp_bias", false) ? nn::Bias::kYes : nn::Bias::kNo;
  return {nn::Linear(weights / "gate_proj", hidden, inner, bias),
          nn::Linear(weights / "up_proj", hidden, inner, bias),
          nn::Linear(weights / "down_proj", inner, hidden, bias),
          nn::activation_by_name(config.string_or(options.activation_key, options.activation),
                                 options.activation_key)};
}

nn::RmsNorm make_norm(const ModelConfig& config, const Weights& weights,
                      const PreNormRotaryOptions& options) {
  return {weights, config.positive_integer("hidden_size"),
          config.epsilon_or("rms_norm_eps", options.epsilon), options.norm_offset};
}

nn::AttentionOptions attention_options(const PreNormRotaryOptions& options, size_t index) {
  nn::AttentionOptions result{.scale = options.attention_scale, .is_causal = options.is_causal};
  if (options.windows.empty()) return result;
  if (const auto& window = options.windows[index]) result.window = *window;
  return result;
}

}  // namespace

class PreNormRotaryEncoder::Layer {
 public:
  Layer(const ModelConfig& config, const Weights& weights, const PreNormRotaryOptions& options,
        size_t index)
      : is_local_(!options.windows.empty() && options.windows[index].has_value()),
        shape_(config, options.head_size),
        attention_norm_(make_norm(config, weights / "input_layernorm", options)),
        attention_(shape_, make_query_key_value(config, weights / "self_attn", shape_, options),
                   attention_options(options, index)),
        attention_output_(weights / "self_attn.o_proj", shape_.query_size(),
                          config.positive_integer("hidden_size"), attention_bias(config)),
        mlp_norm_(make_norm(config,
                            weights / (options.has_output_norms ? "pre_feedforward_layernorm"
                                                                : "post_attention_layernorm"),
                            options)),
        mlp_(make_mlp(config, weights / "mlp", options)) {
    if (options.has_head_norms) {
      const auto head_norm = [&](const char* name) -> nn::RmsNorm {
        return {weights / name, shape_.head_size,
                config.epsilon_or("rms_norm_eps", options.epsilon), options.norm_offset};
      };
      attention_.set_norms(head_norm("self_attn.q_norm"), head_norm("self_attn.k_norm"));
    }
    if (options.has_output_norms) {
      attention_output_norm_.emplace(
          make_norm(config, weights / "post_attention_layernorm", options));
      mlp_output_norm_.emplace(make_norm(config, weights / "post_feedforward_layernorm", options));
    }
  }

  /// True if the layer has a window.
  bool is_local() const { return is_local_; }

  /// [tokens, hidden] → [tokens or sequences, hidden]. Writes the result to the input if the number
  /// of rows is equal.
  at::Tensor operator()(const at::Tensor& input, const nn::PackedBatch& batch,
                        const nn::RotaryEmbedding::Angles& angles, nn::OutputTokens outputs,
                        const nn::SharedPrefixes* prefixes) const {
    const at::Tensor context =
        attention_(attention_norm_(input), batch, &angles, outputs, prefixes);
    at::Tensor hidden = nn::gather_output_rows(input, batch, outputs);
    hidden = attention_output_norm_
                 ? attention_output_norm_->add_to(hidden, attention_output_(context))
                 : attention_output_.add_to(hidden, context);
    const at::Tensor normalized = mlp_norm_(hidden);
    return mlp_output_norm_ ? mlp_output_norm_->add_to(hidden, mlp_(normalized))
                            : mlp_.add_to(hidden, normalized);
  }

 private:
  bool is_local_;
  nn::HeadShape shape_;
  nn::RmsNorm attention_norm_;
  nn::RotaryAttention attention_;
  nn::Linear attention_output_;
  std::optional<nn::RmsNorm> attention_output_norm_;
  nn::RmsNorm mlp_norm_;
  nn::GatedMlp mlp_;
  std::optional<nn::RmsNorm> mlp_output_norm_;
};

PreNormRotaryEncoder::PreNormRotaryEncoder(const ModelConfig& config, const Weights& weights,
                                           const PreNormRotaryOptions& options)
    : sizes_{.max_length = rotary_position_limit(config),
             .vocabulary_size = config.positive_integer("vocab_size"),
             .token_types = 0,
             .hidden_size = config.positive_integer("hidden_size")},
      is_causal_(options.is_causal),
      embeddings_(weights / "embed_tokens", sizes_.vocabulary_size, sizes_.hidden_size),
      rotary_(nn::make_rotary(config, nn::HeadShape(config, options.head_size).head_size,
                              options.theta)),
      final_norm_(make_norm(config, weights / "norm", options)) {
  if (options.scales_embeddings) {
    embedding_scale_ = std::sqrt(static_cast<double>(sizes_.hidden_size));
  }
  if (!options.windows.empty()) {
    local_rotary_.emplace(nn::HeadShape(config, options.head_size).head_size, options.local_theta);
  }
  const int64_t count = config.layer_count("num_hidden_layers");
  for (int64_t i = 0; i < count; ++i) {
    layers_.push_back(std::make_shared<const Layer>(
        config, weights / ("layers." + std::to_string(i)), options, static_cast<size_t>(i)));
  }
}

at::Tensor PreNormRotaryEncoder::operator()(const nn::PackedBatch& batch,
                                            nn::OutputTokens outputs) const {
  std::optional<nn::SharedPrefixes> prefixes;
  if (is_causal_ && outputs == nn::OutputTokens::kAllTokens) {
    prefixes = nn::SharedPrefixes::find(batch);
  }
  const auto rows_of = [&](const auto& by_token) {
    return prefixes ? prefixes->rows_of(by_token) : by_token;
  };
  const auto angles = rows_of(rotary_.angles(batch));
  std::optional<nn::RotaryEmbedding::Angles> local;
  if (local_rotary_) local = rows_of(local_rotary_->angles(batch));
  at::Tensor hidden = embeddings_(rows_of(batch.input_ids));
  if (embedding_scale_) hidden.mul_(*embedding_scale_);
  for (const auto& layer : layers_) {
    const bool is_last = layer == layers_.back();
    hidden =
        (*layer)(hidden, batch, layer->is_local() && local ? *local : angles,
                 is_last ? outputs : nn::OutputTokens::kAllTokens, prefixes ? &*prefixes : nullptr);
  }
  hidden = final_norm_(hidden);
  return prefixes ? prefixes->tokens_of(hidden) : hidden;
}

}  // namespace backend::models
