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

/// Tokens for which a layer computes its result. If a head reads only the first (CLS) tokens, the
/// last layer computes only their rows.
enum class OutputTokens { kAllTokens, kClsOnly };

/// Selects the rows of these tokens. [tokens, hidden] → [tokens or sequences, hidden].
at::Tensor gather_output_rows(const at::Tensor& hidden, const PackedBatch& batch,
                              OutputTokens outputs);

/// Query, key and value of a layer.
struct Projections {
  /// Projects `hidden` with one linear layer, whose outputs are query, key and value side by side.
  /// Attention computes in the layer's compute types. `kept`: the rows of gather_output_rows().
  static Projections project(const at::Tensor& hidden, const at::Tensor& kept, const Linear& layer,
                             OutputTokens outputs);

  at::Tensor query;      ///< [tokens, hidden]; kClsOnly: [sequences, hidden]
  at::Tensor key_value;  ///< [tokens, 2 × hidden]; kAllTokens: shares a tensor with query
  OutputTokens outputs;
  kernels::Format format;
};

/// Options of softmax(scale × query keyᵀ + bias).
struct AttentionOptions {
  std::optional<double> scale = std::nullopt;  ///< unset: 1 / √head_size
  /// Token i attends to the tokens i − window … i + window of its sequence.
  int64_t window = std::numeric_limits<int64_t>::max();
  // Designated initializers may omit them: NOLINTBEGIN(readability-redundant-member-init)
  /// One bias for each length group, broadcastable to [sequences, heads, rows, length]; empty:
  /// none.
  std::span<const at::Tensor> biases = {};
  /// Relative-position terms of each head; empty: none. Not combinable with a window.
  std::span<const kernels::HeadPositions> positions = {};
  // NOLINTEND(readability-redundant-member-init)
};

/// Scaled dot-product self-attention of packed sequences. Tokens attend to their own sequence only.
/// → [tokens or sequences, hidden].
at::Tensor self_attention(const Projections& projections, const PackedBatch& batch,
                          int64_t num_heads, const AttentionOptions& options = {});

}  // namespace backend::nn
