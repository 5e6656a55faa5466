#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>

#include "backend/model_config.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// Stretches rotary positions for texts that are longer than those of the training (NTK).
struct RotaryScaling {
  double factor = 1;
  /// Dynamic: only sequences longer than this are scaled, by their length. 0: every sequence is
  /// scaled by the factor (GTE).
  int64_t trained_length = 0;
  /// GTE: exponent b of the mixed form, in which each frequency is scaled by exp(a × j^b); empty:
  /// the plain form.
  std::optional<double> mixed_b = std::nullopt;
};

/// Rotary position embedding: rotates query and key by position-dependent angles.
/// Source: transformers, models/modernbert/modeling_modernbert.py (ModernBertRotaryEmbedding,
/// apply_rotary_pos_emb) and modeling_rope_utils.py (_compute_dynamic_ntk_parameters).
class RotaryEmbedding {
 public:
  RotaryEmbedding(int64_t head_size, double theta, const RotaryScaling& scaling = {});
  /// Frequencies that do not depend on the length of the sequence, [head_size / 2], and a factor of
  /// cosines and sines.
  RotaryEmbedding(at::Tensor inverse_frequencies, double factor);

  struct Angles {
    at::Tensor cos, sin;  ///< [tokens, head_size / 2]
  };
  /// Angles of the tokens of a batch.
  Angles angles(const PackedBatch& batch) const;

 private:
  int64_t head_size_;
  double theta_;
  RotaryScaling scaling_;
  at::Tensor inverse_frequencies_;  ///< [head_size / 2]
  double factor_ = 1;               ///< of cosines and sines
};

/// Rotary embedding of config.json: theta and scaling under rope_parameters, or rope_theta of older
/// files. Throws LoadError for unsupported scaling.
RotaryEmbedding make_rotary(const ModelConfig& config, int64_t head_size, double default_theta);

/// Rotates float32 states [tokens, heads × head_size] in place. They may be columns of a larger
/// tensor.
void rotate(const at::Tensor& states, int64_t num_heads, const RotaryEmbedding::Angles& angles);

}  // namespace backend::nn
