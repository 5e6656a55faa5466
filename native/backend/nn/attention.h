#pragma once

#include <ATen/core/Tensor.h>

#include "nn/packed_batch.h"

namespace backend::nn {

/// Scaled dot-product self-attention of packed sequences, each attending to itself alone.
/// query_key_value: [tokens, 3 × hidden], the three side by side; → [tokens, hidden].
at::Tensor self_attention(const at::Tensor& query_key_value, const PackedBatch& batch,
                          int64_t num_heads);

}  // namespace backend::nn
