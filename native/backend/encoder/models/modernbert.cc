// ModernBERT: pre-norm layers with rotary positions, gated feed-forward and, in most layers,
// sliding-window attention. Source: transformers, models/modernbert/modeling_modernbert.py
// (ModernBertModel).
#include <ATen/TensorOperators.h>

#include <limits>
#include <optional>
#include <vector>

#include "common/error.h"
#include "encoder/models/encoder.h"
#include "encoder/nn/activation.h"
#include "encoder/nn/attention.h"
#include "encoder/nn/embeddings.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"
#include "encoder/nn/option_biases.h"
#include "encoder/nn/rotary_embedding.h"

namespace backend::models {
namespace {

constexpr int64_t kNoWindow = std::numeric_limits<int64_t>::max();

nn::Bias bias_of(const ModelConfig& config, const char* key) {
  return config.boolean_or(key, false) ? nn::Bias::kYes : nn::Bias::kNo;
}

nn::LayerNorm make_norm(const ModelConfig& config, const Weights& weights) {
  return {weights, config.positive_integer("hidden_size"), config.epsilon_or("norm_eps", 1e-5),
          bias_of(config, "norm_bias")};
}

/// Tokens on each side that a sliding-window layer attends to.
int64_t local_window(const ModelConfig& config) {
  const int64_t tokens = config.integer_or("local_attention", 128);
  if (tokens < 1) throw common::LoadError("config.json: local_attention: expected at least 1");
  return tokens / 2;
}

class ModernBertLayer {
 public:
  ModernBertLayer(const ModelConfig& config, const Weights& weights, bool first, bool sliding)
      : sliding_(sliding),
        num_heads_(config.positive_integer("num_attention_heads")),
        hidden_size_(config.positive_integer("hidden_size")),
        intermediate_size_(config.positive_integer("intermediate_size")),
        activation_(nn::activation_by_name(config.string_or("hidden_activation", "gelu"),
                                           "hidden_activation")),
        query_key_value_(weights / "attn.Wqkv", hidden_size_, 3 * hidden_size_,
                         bias_of(config, "attention_bias")),
        attention_output_(weights / "attn.Wo", hidden_size_, hidden_size_,
                          bias_of(config, "attention_bias")),
        mlp_norm_(make_norm(config, weights / "mlp_norm")),
        input_and_gate_(weights / "mlp.Wi", hidden_size_, 2 * intermediate_size_,
                        bias_of(config, "mlp_bias")),
        input_(input_and_gate_.slice(0, intermediate_size_)),
        gate_(input_and_gate_.slice(intermediate_size_, intermediate_size_)),
        mlp_output_(weights / "mlp.Wo", intermediate_size_, hidden_size_,
                    bias_of(config, "mlp_bias")) {
    if (sliding) window_ = local_window(config);
    if (!first) attention_norm_.emplace(make_norm(config, weights / "attn_norm"));
  }

  bool sliding() const { return sliding_; }

  /// [tokens, hidden] → [tokens or sequences, hidden]. Writes the result to the input if the number
  /// of rows is equal.
  /// biases: of nn::option_biases() for the layer's window.
  at::Tensor operator()(const at::Tensor& input, const nn::PackedBatch& batch,
                        const nn::RotaryEmbedding::Angles& angles,
                        const std::vector<at::Tensor>& biases, nn::OutputTokens outputs) const {
    // The first layer reads normalized embeddings.
    const at::Tensor normalized = attention_norm_ ? (*attention_norm_)(input) : input;
    const auto projections =
        nn::Projections::project(normalized, nn::gather_output_rows(normalized, batch, outputs),
                                 query_key_value_, hidden_size_, outputs);
    // The rotation angle of a first token is 0.
    if (outputs == nn::OutputTokens::kAllTokens) {
      nn::rotate(projections.query, num_heads_, angles);
    }
    nn::rotate(projections.keys(), num_heads_, angles);
    nn::AttentionOptions options;
    if (biases.empty()) options.window = window_;
    options.biases = biases;
    const at::Tensor context = nn::self_attention(projections, batch, num_heads_, options);
    const at::Tensor attended =
        attention_output_.add_to(nn::gather_output_rows(input, batch, outputs), context);
    const at::Tensor mlp_input = mlp_norm_(attended);
    const at::Tensor gated = gate_.multiply_into(input_(mlp_input, activation_), mlp_input);
    return mlp_output_.add_to(attended, gated);
  }

 private:
  bool sliding_;
  int64_t window_ = kNoWindow;
  int64_t num_heads_, hidden_size_, intermediate_size_;
  nn::Activation activation_;
  nn::Linear query_key_value_;
  nn::Linear attention_output_;
  nn::LayerNorm mlp_norm_;
  nn::Linear input_and_gate_;
  nn::Linear input_, gate_;  ///< halves of input_and_gate_
  nn::Linear mlp_output_;
  std::optional<nn::LayerNorm> attention_norm_;
};

/// Layers with sliding-window attention: layer_types, or in older files all layers except every
/// n-th.
std::vector<bool> sliding_layers(const ModelConfig& config) {
  const auto count = static_cast<size_t>(config.layer_count("num_hidden_layers"));
  const std::vector<std::string> types = config.strings("layer_types");
  const int64_t every = config.integer_or("global_attn_every_n_layers", 3);
  if (every < 1)
    throw common::LoadError("config.json: global_attn_every_n_layers: expected at least 1");
  if (!types.empty() && types.size() != count) {
    throw common::LoadError("config.json: layer_types: expected one for each of the " +
                            std::to_string(count) + " layers, received " +
                            std::to_string(types.size()));
  }
  std::vector<bool> sliding;
  for (size_t i = 0; i < count; ++i) {
    if (types.empty()) {
      sliding.push_back(static_cast<int64_t>(i) % every != 0);
    } else if (types[i] == "sliding_attention" || types[i] == "full_attention") {
      sliding.push_back(types[i] == "sliding_attention");
    } else {
      throw common::LoadError("config.json: layer_types[" + std::to_string(i) +
                              "]: expected full_attention or sliding_attention, received \"" +
                              types[i] + '"');
    }
  }
  return sliding;
}

/// Rotary embedding of an attention type, from rope_parameters or from the scalar of older files.
nn::RotaryEmbedding make_rotary_of(const ModelConfig& config, const std::string& attention_type,
                                   const char* older_key, double fallback) {
  const std::string parameters = "rope_parameters." + attention_type;
  config.require_one_of(parameters + ".rope_type", {"default"});
  config.require_one_of("rope_scaling.rope_type", {"default"});
  const int64_t heads = config.positive_integer("num_attention_heads");
  const int64_t hidden = config.positive_integer("hidden_size");
  if (hidden % (2 * heads) != 0) {
    throw common::LoadError(
        "config.json: hidden_size: expected a multiple of twice num_attention_heads");
  }
  const double theta = config.positive_number_or(parameters + ".rope_theta",
                                                 config.positive_number_or(older_key, fallback));
  return {hidden / heads, theta};
}

class ModernBert final : public Encoder {
 public:
  ModernBert(const ModelConfig& config, const Weights& weights)
      : sizes_{.max_length = rotary_position_limit(config),
               .vocabulary_size = config.positive_integer("vocab_size"),
               .token_types = 0,
               .hidden_size = config.positive_integer("hidden_size")},
        embeddings_(weights / "embeddings.tok_embeddings", sizes_.vocabulary_size,
                    sizes_.hidden_size),
        embeddings_norm_(make_norm(config, weights / "embeddings.norm")),
        full_rotary_(make_rotary_of(config, "full_attention", "global_rope_theta", 160'000)),
        sliding_rotary_(make_rotary_of(config, "sliding_attention", "local_rope_theta", 10'000)),
        final_norm_(make_norm(config, weights / "final_norm")) {
    const std::vector<bool> sliding = sliding_layers(config);
    for (size_t i = 0; i < sliding.size(); ++i) {
      if (sliding[i]) sliding_window_ = local_window(config);
      layers_.emplace_back(config, weights / ("layers." + std::to_string(i)), i == 0, sliding[i]);
    }
  }

  EncoderSizes sizes() const override { return sizes_; }

  at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens outputs) const override {
    const auto full = full_rotary_.angles(batch);
    const auto sliding = sliding_rotary_.angles(batch);
    const auto full_biases = nn::option_biases(batch, kNoWindow);
    const auto sliding_biases = nn::option_biases(batch, sliding_window_);
    at::Tensor hidden = embeddings_norm_(embeddings_(batch.input_ids));
    for (const auto& layer : layers_) {
      const bool is_last = &layer == &layers_.back();
      const bool is_sliding = layer.sliding();
      hidden = layer(hidden, batch, is_sliding ? sliding : full,
                     is_sliding ? sliding_biases : full_biases,
                     is_last ? outputs : nn::OutputTokens::kAllTokens);
    }
    return final_norm_(hidden);
  }

 private:
  EncoderSizes sizes_;
  nn::Embedding embeddings_;
  nn::LayerNorm embeddings_norm_;
  nn::RotaryEmbedding full_rotary_;
  nn::RotaryEmbedding sliding_rotary_;
  int64_t sliding_window_ = kNoWindow;
  std::vector<ModernBertLayer> layers_;
  nn::LayerNorm final_norm_;
};

}  // namespace

std::unique_ptr<Encoder> make_modernbert(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<ModernBert>(config, weights);
}

}  // namespace backend::models
