#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <span>

#include "nn/packed_batch.h"

namespace backend::nn {

/// Attention of the sequences of batch.groups[group]: query, key, value and the result are
/// [sequences, heads, length, head_size].
using GroupAttention = c10::function_ref<at::Tensor(const at::Tensor& query, const at::Tensor& key,
                                                    const at::Tensor& value, size_t group)>;

/// Runs `attend` on each group of equal lengths, on strided views of what lies in the batch.
/// query_key_value: [tokens, 3 × hidden], the three side by side; → [tokens, hidden].
at::Tensor attend_by_group(const at::Tensor& query_key_value, const PackedBatch& batch,
                           int64_t num_heads, GroupAttention attend);

/// Scaled dot-product self-attention of packed sequences, each attending to itself alone.
/// biases: none, or one a group, broadcastable to [sequences, heads, length, length]: float ones
/// are added to the scores, boolean ones are true where a token is attended to, an undefined one
/// changes nothing. Shapes as in attend_by_group.
at::Tensor self_attention(const at::Tensor& query_key_value, const PackedBatch& batch,
                          int64_t num_heads, std::span<const at::Tensor> biases = {});

}  // namespace backend::nn
