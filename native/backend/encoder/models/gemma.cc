// Gemma and Gemma 3 (EmbeddingGemma), as embedders and rerankers.
// Source: transformers, models/gemma/modeling_gemma.py (GemmaModel) and
// models/gemma3/modeling_gemma3.py (Gemma3TextModel).
#include <cmath>
#include <string>

#include "common/error.h"
#include "encoder/models/pre_norm_rotary_encoder.h"

namespace backend::models {
namespace {

constexpr int64_t kHeadSize = 256;

/// The window of each layer, by layer_types or the older sliding_window_pattern.
std::vector<std::optional<int64_t>> windows_of(const ModelConfig& config, bool is_causal) {
  constexpr int64_t kDefaultWindow = 4096, kDefaultPattern = 6;
  const int64_t sliding = config.integer_or("sliding_window", kDefaultWindow);
  const int64_t pattern = config.integer_or("sliding_window_pattern", kDefaultPattern);
  if (sliding < 1 || pattern < 1) {
    throw common::LoadError(
        "config.json: sliding_window, sliding_window_pattern: expected at least 1");
  }
  const std::vector<std::string> types = config.strings("layer_types");
  const auto count = static_cast<size_t>(config.layer_count("num_hidden_layers"));
  if (!types.empty() && types.size() != count) {
    throw common::LoadError("config.json: layer_types: expected one for each of the " +
                            std::to_string(count) + " layers, received " +
                            std::to_string(types.size()));
  }
  // Without a causal mask, the file holds twice the tokens on each side.
  const int64_t window = is_causal ? sliding - 1 : sliding / 2;
  std::vector<std::optional<int64_t>> windows;
  for (size_t i = 0; i < count; ++i) {
    const bool is_local = types.empty() ? (static_cast<int64_t>(i) + 1) % pattern != 0
                                        : types[i] == "sliding_attention";
    windows.push_back(is_local ? std::optional(window) : std::nullopt);
  }
  return windows;
}

double theta_of(const ModelConfig& config, const char* kind, const char* older_key,
                double fallback) {
  const std::string parameters = std::string("rope_parameters.") + kind;
  config.require_one_of(parameters + ".rope_type", {"default"});
  return config.positive_number_or(parameters + ".rope_theta",
                                   config.positive_number_or(older_key, fallback));
}

}  // namespace

std::unique_ptr<Encoder> make_gemma(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<PreNormRotaryEncoder>(
      config, weights,
      PreNormRotaryOptions{.is_causal = !config.boolean_or("use_bidirectional_attention", false),
                           .activation = "gelu_pytorch_tanh",
                           .activation_key = "hidden_activation",
                           .head_size = kHeadSize,
                           .norm_offset = 1,
                           .scales_embeddings = true});
}

std::unique_ptr<Encoder> make_gemma3(const ModelConfig& config, const Weights& weights) {
  const bool is_causal = !config.boolean_or("use_bidirectional_attention", false);
  const double scalar = config.positive_number_or("query_pre_attn_scalar", kHeadSize);
  return std::make_unique<PreNormRotaryEncoder>(
      config, weights,
      PreNormRotaryOptions{
          .is_causal = is_causal,
          .activation = "gelu_pytorch_tanh",
          .activation_key = "hidden_activation",
          .theta = theta_of(config, "full_attention", "rope_theta", 1e6),
          .head_size = kHeadSize,
          .has_head_norms = true,
          .norm_offset = 1,
          .has_output_norms = true,
          .scales_embeddings = true,
          .attention_scale = 1 / std::sqrt(scalar),
          .windows = windows_of(config, is_causal),
          .local_theta = theta_of(config, "sliding_attention", "rope_local_base_freq", 1e4)});
}

}  // namespace backend::models
