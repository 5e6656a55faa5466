#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "backend/model_config.h"
#include "encoder/nn/attention.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"
#include "encoder/nn/rms_norm.h"
#include "encoder/nn/rotary_embedding.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// Sizes of grouped-query attention.
struct HeadShape {
  /// From config.json: num_attention_heads, num_key_value_heads (default: as many) and head_dim
  /// (default: `head_size`, or hidden_size divided by the heads if that is 0). Throws LoadError.
  HeadShape(const ModelConfig& config, int64_t head_size = 0);

  int64_t heads, key_value_heads, head_size;
  int64_t query_size() const { return heads * head_size; }
  int64_t key_value_size() const { return key_value_heads * head_size; }
};

/// Self-attention with rotary positions, and optional normalization of queries and keys before the
/// rotation, without the output projection.
class RotaryAttention {
 public:
  /// query_key_value: outputs are query, key and value side by side.
  RotaryAttention(const HeadShape& shape, Linear query_key_value,
                  const AttentionOptions& options = {});

  /// Normalizes each head of queries and keys.
  void set_norms(RmsNorm query, RmsNorm key);
  /// Normalizes all heads of a token together.
  void set_norms(LayerNorm query, LayerNorm key);

  /// input: [tokens, hidden] → [tokens or sequences, heads × head size]. angles: null: no rotation.
  /// prefixes: the input, the angles and the result have their rows, of all tokens.
  at::Tensor operator()(const at::Tensor& input, const PackedBatch& batch,
                        const RotaryEmbedding::Angles* angles, OutputTokens outputs,
                        const SharedPrefixes* prefixes = nullptr) const;

 private:
  HeadShape shape_;
  Linear query_key_value_;
  AttentionOptions options_;
  std::optional<RmsNorm> query_norm_, key_norm_;
  std::optional<LayerNorm> whole_query_norm_, whole_key_norm_;
};

}  // namespace backend::nn
