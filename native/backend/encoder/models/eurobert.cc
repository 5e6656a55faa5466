// EuroBERT: Llama's layers without a causal mask.
// Source: transformers, models/eurobert/modeling_eurobert.py (EuroBertModel).
#include "encoder/models/pre_norm_rotary_encoder.h"

namespace backend::models {

std::unique_ptr<Encoder> make_eurobert(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<PreNormRotaryEncoder>(
      config, weights, PreNormRotaryOptions{.is_causal = false, .epsilon = 1e-5});
}

}  // namespace backend::models
