#pragma once

#include <ATen/core/Tensor.h>

namespace backend::nn {

/// Rotary position embedding: rotates query and key by position-dependent angles.
/// Source: transformers, models/modernbert/modeling_modernbert.py (ModernBertRotaryEmbedding,
/// apply_rotary_pos_emb).
class RotaryEmbedding {
 public:
  RotaryEmbedding(int64_t head_size, double theta);

  /// Angles for positions, int64 [tokens].
  struct Angles {
    at::Tensor cos, sin;  ///< [tokens, head_size / 2]
  };
  Angles angles(const at::Tensor& position_ids) const;

 private:
  at::Tensor inverse_frequencies_;  ///< [head_size / 2]
};

/// Rotates float32 states [tokens, heads × head_size] in place. They may be columns of a larger
/// tensor.
void rotate(const at::Tensor& states, int64_t num_heads, const RotaryEmbedding::Angles& angles);

}  // namespace backend::nn
