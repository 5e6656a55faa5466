#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <span>

#include "nn/linear.h"
#include "nn/packed_batch.h"

namespace backend::nn {

/// For which tokens a layer computes its result. A head that reads first tokens needs no others of
/// the last layer, where they alone query all tokens.
enum class Outputs { kAllTokens, kFirstTokens };

/// The rows of [tokens, hidden] that a layer's result stands for.
at::Tensor kept_tokens(const at::Tensor& hidden, const PackedBatch& batch, Outputs outputs);

/// What a layer attends with.
struct Projections {
  /// Of `hidden`, by one linear layer that gives query, key and value side by side.
  static Projections of(const at::Tensor& hidden, const at::Tensor& kept, const Linear& layer,
                        Outputs outputs);

  at::Tensor query;  ///< [tokens, hidden], or [sequences, hidden] for first tokens
  at::Tensor
      key_value;  ///< [tokens, 2 × hidden]; with all tokens, columns of one tensor with query
  Outputs outputs;
};

/// Attention of the sequences of batch.groups[group]. query and result: [sequences, heads, length
/// or 1, head_size], key and value: [sequences, heads, length, head_size].
using GroupAttention = c10::function_ref<at::Tensor(const at::Tensor& query, const at::Tensor& key,
                                                    const at::Tensor& value, size_t group)>;

/// Runs `attend` on each group of equal lengths, on strided views of what lies in the batch.
/// → [tokens or sequences, hidden].
at::Tensor attend_by_group(const Projections& projections, const PackedBatch& batch,
                           int64_t num_heads, GroupAttention attend);

/// Scaled dot-product self-attention of packed sequences, each attending to itself alone.
/// biases: none, or one a group, broadcastable to [sequences, heads, length, length]: float ones
/// are added to the scores, boolean ones are true where a token is attended to, an undefined one
/// changes nothing. → [tokens or sequences, hidden].
at::Tensor self_attention(const Projections& projections, const PackedBatch& batch,
                          int64_t num_heads, std::span<const at::Tensor> biases = {});

}  // namespace backend::nn
