#pragma once

#include <ATen/core/Tensor.h>

#include "backend/model_config.h"
#include "encoder/nn/rotary_embedding.h"

namespace backend::nn {

/// Rotary embedding with YaRN scaling: high frequencies stay, low frequencies are divided by the
/// factor, and a ramp connects them. From rope_parameters of config.json: rope_theta, factor,
/// original_max_position_embeddings, beta_fast, beta_slow, truncate, attention_factor, mscale and
/// mscale_all_dim. Throws LoadError.
/// Source: transformers, modeling_rope_utils.py (_compute_yarn_parameters).
RotaryEmbedding make_yarn_rotary(const ModelConfig& config, int64_t head_size,
                                 double default_theta);

/// Order of the outputs of a query or key layer in which the pairs of dimensions (2i, 2i + 1) of
/// each head become the pairs (i, i + head_size / 2) that rotate() turns. Products of queries and
/// keys in the same order do not change. → int64 [heads × head_size].
at::Tensor order_of_interleaved_pairs(int64_t heads, int64_t head_size);

}  // namespace backend::nn
