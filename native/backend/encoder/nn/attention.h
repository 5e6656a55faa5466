#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "encoder/nn/linear.h"
#include "kernels/attention.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// For which tokens a layer computes its result. A head that reads first tokens needs no others of
/// the last layer, where they alone query all tokens.
enum class Outputs { kAllTokens, kFirstTokens };

/// The rows of [tokens, hidden] that a layer's result stands for.
at::Tensor kept_tokens(const at::Tensor& hidden, const PackedBatch& batch, Outputs outputs);

/// What a layer attends with.
struct Projections {
  /// Of `hidden`, by one linear layer that gives query, key and value side by side. Attention
  /// multiplies as the layer does.
  static Projections of(const at::Tensor& hidden, const at::Tensor& kept, const Linear& layer,
                        Outputs outputs);

  at::Tensor query;  ///< [tokens, hidden], or [sequences, hidden] for first tokens
  at::Tensor
      key_value;  ///< [tokens, 2 × hidden]; with all tokens, columns of one tensor with query
  Outputs outputs;
  kernels::Format format;
};

/// Rows of one length group → [sequences, heads, rows a sequence, head_size], a strided view.
at::Tensor by_head(const at::Tensor& states, int64_t first_row, int64_t sequences, int64_t rows,
                   int64_t num_heads);

/// How scores become weights: softmax(scale × query keyᵀ + bias) over the tokens of its window.
struct AttentionRules {
  std::optional<double> scale = std::nullopt;  ///< 1 / √head_size where there is none
  /// Token i sees the tokens from i − window to i + window, in its own sequence as always.
  int64_t window = std::numeric_limits<int64_t>::max();
  // They may be left out without a warning: NOLINTBEGIN(readability-redundant-member-init)
  /// None, or one a length group, broadcastable to [sequences, heads, length, length] (or only the
  /// first row of the last but one).
  std::span<const at::Tensor> biases = {};
  /// None, or what each head adds by relative position. With it every token sees all.
  std::span<const kernels::HeadPositions> positions = {};
  // NOLINTEND(readability-redundant-member-init)
};

/// Scaled dot-product self-attention of packed sequences, each attending to itself alone.
/// → [tokens or sequences, hidden].
at::Tensor self_attention(const Projections& projections, const PackedBatch& batch,
                          int64_t num_heads, const AttentionRules& rules = {});

}  // namespace backend::nn
