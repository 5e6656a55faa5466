// LFM2: layers with a short convolution or with attention; causal, and LFM2.5-Encoder without a
// causal mask.
// Source: transformers, models/lfm2/modeling_lfm2.py (Lfm2Model).
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/error.h"
#include "encoder/models/encoder.h"
#include "encoder/nn/embeddings.h"
#include "encoder/nn/gated_mlp.h"
#include "encoder/nn/rms_norm.h"
#include "encoder/nn/rotary_attention.h"
#include "encoder/nn/rotary_embedding.h"
#include "encoder/nn/short_convolution.h"

namespace backend::models {
namespace {

constexpr double kTheta = 1e6;
constexpr double kEpsilon = 1e-5;

/// Width of the feed-forward network. Source: Lfm2MLP.
int64_t intermediate_size(const ModelConfig& config) {
  constexpr int64_t kDefaultSize = 12'288, kDefaultMultiple = 256, kMaxSize = 1 << 20;
  const int64_t given =
      config.integer_or("block_ff_dim", config.integer_or("intermediate_size", kDefaultSize));
  const int64_t multiple = config.integer_or("block_multiple_of", kDefaultMultiple);
  if (given < 1 || given > kMaxSize || multiple < 1 || multiple > kMaxSize) {
    throw common::LoadError(
        "config.json: intermediate_size, block_multiple_of: expected 1 to 1048576");
  }
  if (!config.boolean_or("block_auto_adjust_ff_dim", true)) return given;
  const double multiplier = config.positive_number_or("block_ffn_dim_multiplier", 1);
  constexpr double kMaxMultiplier = 64;
  if (multiplier > kMaxMultiplier) {
    throw common::LoadError("config.json: block_ffn_dim_multiplier: expected at most 64");
  }
  const int64_t two_thirds = 2 * given / 3;
  const auto adjusted = static_cast<int64_t>(multiplier * static_cast<double>(two_thirds));
  return (adjusted + multiple - 1) / multiple * multiple;
}

/// For each layer whether it has attention.
std::vector<bool> attention_layers(const ModelConfig& config) {
  const auto count = static_cast<size_t>(config.layer_count("num_hidden_layers"));
  const std::vector<std::string> types = config.strings("layer_types");
  if (types.size() != count) {
    throw common::LoadError("config.json: layer_types: expected one for each of the " +
                            std::to_string(count) + " layers, received " +
                            std::to_string(types.size()));
  }
  std::vector<bool> result;
  for (const std::string& type : types) {
    if (type != "conv" && type != "full_attention") {
      throw common::LoadError(
          "config.json: layer_types: expected \"conv\" or \"full_attention\", received \"" + type +
          "\"");
    }
    result.push_back(type == "full_attention");
  }
  return result;
}

nn::RmsNorm make_norm(const ModelConfig& config, const Weights& weights, int64_t size) {
  return {weights, size, config.epsilon_or("norm_eps", kEpsilon)};
}

class Attention {
 public:
  Attention(const ModelConfig& config, const Weights& weights, bool is_causal)
      : shape_(config),
        attention_(shape_,
                   nn::Linear::fused({{weights / "q_proj", shape_.query_size()},
                                      {weights / "k_proj", shape_.key_value_size()},
                                      {weights / "v_proj", shape_.key_value_size()}},
                                     config.positive_integer("hidden_size"), nn::Bias::kNo),
                   nn::AttentionOptions{.is_causal = is_causal}),
        output_(weights / "out_proj", shape_.query_size(), config.positive_integer("hidden_size"),
                nn::Bias::kNo) {
    attention_.set_norms(make_norm(config, weights / "q_layernorm", shape_.head_size),
                         make_norm(config, weights / "k_layernorm", shape_.head_size));
  }

  at::Tensor add_to(at::Tensor y, const at::Tensor& input, const nn::PackedBatch& batch,
                    const nn::RotaryEmbedding::Angles& angles) const {
    const at::Tensor context = attention_(input, batch, &angles, nn::OutputTokens::kAllTokens);
    return output_.add_to(std::move(y), context);
  }

 private:
  nn::HeadShape shape_;
  nn::RotaryAttention attention_;
  nn::Linear output_;
};

nn::ShortConvolution make_convolution(const ModelConfig& config, const Weights& weights,
                                      bool is_causal) {
  constexpr int64_t kDefaultLength = 3, kMaxLength = 64;
  const int64_t length = config.integer_or("conv_L_cache", kDefaultLength);
  if (length < 1 || length > kMaxLength || (!is_causal && length % 2 == 0)) {
    throw common::LoadError(
        "config.json: conv_L_cache: expected 1 to 64, and an odd number in a model that is not "
        "causal, received " +
        std::to_string(length));
  }
  const nn::Bias bias = config.boolean_or("conv_bias", false) ? nn::Bias::kYes : nn::Bias::kNo;
  return {weights, config.positive_integer("hidden_size"), length,
          is_causal ? length - 1 : length / 2, bias};
}

class Layer {
 public:
  Layer(const ModelConfig& config, const Weights& weights, bool has_attention, bool is_causal)
      : operator_norm_(
            make_norm(config, weights / "operator_norm", config.positive_integer("hidden_size"))),
        mixer_(has_attention ? Mixer(Attention(config, weights / "self_attn", is_causal))
                             : Mixer(make_convolution(config, weights / "conv", is_causal))),
        mlp_norm_(make_norm(config, weights / "ffn_norm", config.positive_integer("hidden_size"))),
        mlp_(make_mlp(config, weights / "feed_forward")) {}

  /// [tokens, hidden] → [tokens, hidden], written to the input.
  at::Tensor operator()(at::Tensor hidden, const nn::PackedBatch& batch,
                        const nn::RotaryEmbedding::Angles& angles) const {
    const at::Tensor normalized = operator_norm_(hidden);
    if (const auto* const attention = std::get_if<Attention>(&mixer_)) {
      hidden = attention->add_to(hidden, normalized, batch, angles);
    } else {
      hidden = std::get<nn::ShortConvolution>(mixer_).add_to(hidden, normalized, batch);
    }
    return mlp_.add_to(hidden, mlp_norm_(hidden));
  }

 private:
  using Mixer = std::variant<Attention, nn::ShortConvolution>;

  static nn::GatedMlp make_mlp(const ModelConfig& config, const Weights& weights) {
    const int64_t hidden = config.positive_integer("hidden_size");
    const int64_t inner = intermediate_size(config);
    return {nn::Linear(weights / "w1", hidden, inner, nn::Bias::kNo),
            nn::Linear(weights / "w3", hidden, inner, nn::Bias::kNo),
            nn::Linear(weights / "w2", inner, hidden, nn::Bias::kNo),
            nn::activation_by_name("silu", "hidden_act")};
  }

  nn::RmsNorm operator_norm_;
  Mixer mixer_;
  nn::RmsNorm mlp_norm_;
  nn::GatedMlp mlp_;
};

class Lfm2 final : public Encoder {
 public:
  Lfm2(const ModelConfig& config, const Weights& weights, bool is_causal)
      : sizes_{.max_length = rotary_position_limit(config),
               .vocabulary_size = config.positive_integer("vocab_size"),
               .token_types = 0,
               .hidden_size = config.positive_integer("hidden_size")},
        embeddings_(weights / "embed_tokens", sizes_.vocabulary_size, sizes_.hidden_size),
        rotary_(nn::make_rotary(config, nn::HeadShape(config).head_size, kTheta)),
        final_norm_(make_norm(config, weights / "embedding_norm", sizes_.hidden_size)) {
    const std::vector<bool> has_attention = attention_layers(config);
    for (size_t i = 0; i < has_attention.size(); ++i) {
      layers_.emplace_back(config, weights / ("layers." + std::to_string(i)), has_attention[i],
                           is_causal);
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

std::unique_ptr<Encoder> make_lfm2(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<Lfm2>(config, weights, /*is_causal=*/true);
}

std::unique_ptr<Encoder> make_lfm2_bidirectional(const ModelConfig& config,
                                                 const Weights& weights) {
  return std::make_unique<Lfm2>(config, weights, /*is_causal=*/false);
}

}  // namespace backend::models
