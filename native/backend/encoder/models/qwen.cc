// Qwen2 and Qwen3, as embedders and rerankers.
// Source: transformers, models/qwen2/modeling_qwen2.py (Qwen2Model) and
// models/qwen3/modeling_qwen3.py (Qwen3Model).
#include "common/error.h"
#include "encoder/models/pre_norm_rotary_encoder.h"

namespace backend::models {
namespace {

void require_full_attention(const ModelConfig& config) {
  if (config.boolean_or("use_sliding_window", false)) {
    throw common::LoadError("config.json: use_sliding_window: expected false, received true");
  }
}

}  // namespace

std::unique_ptr<Encoder> make_qwen2(const ModelConfig& config, const Weights& weights) {
  require_full_attention(config);
  return std::make_unique<PreNormRotaryEncoder>(
      config, weights, PreNormRotaryOptions{.is_causal = true, .query_bias = nn::Bias::kYes});
}

std::unique_ptr<Encoder> make_qwen3(const ModelConfig& config, const Weights& weights) {
  constexpr int64_t kHeadSize = 128;
  require_full_attention(config);
  return std::make_unique<PreNormRotaryEncoder>(
      config, weights,
      PreNormRotaryOptions{.is_causal = true, .head_size = kHeadSize, .has_head_norms = true});
}

}  // namespace backend::models
