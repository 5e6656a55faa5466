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

class SharedPrefixes;

/// Tokens for which a layer computes its result. If a head reads only the first (CLS) tokens, the
/// last layer computes only their rows.
enum class OutputTokens { kAllTokens, kClsOnly };

/// Selects the rows of these tokens. [tokens, hidden] → [tokens or sequences, hidden].
at::Tensor gather_output_rows(const at::Tensor& hidden, const PackedBatch& batch,
                              OutputTokens outputs);

/// Query, key and value of a layer.
struct Projections {
  /// Projects `hidden` with one linear layer, whose outputs are query (query_size columns), key and
  /// value side by side.
  /// Attention computes in the layer's compute types. `kept`: the rows of gather_output_rows().
  static Projections project(const at::Tensor& hidden, const at::Tensor& kept, const Linear& layer,
                             int64_t query_size, OutputTokens outputs);

  /// Columns of the keys; the values follow them.
  at::Tensor keys() const { return key_value.narrow(1, 0, key_value.size(1) / 2); }

  at::Tensor query;  ///< [tokens, heads × head size]; kClsOnly: [sequences, heads × head size]
  /// [tokens, 2 × key-value heads × head size]; kAllTokens: shares a tensor with query. Consecutive
  /// query heads share a key-value head if there are fewer of them.
  at::Tensor key_value;
  OutputTokens outputs;
  kernels::Format format;
};

/// Options of softmax(scale × query keyᵀ + bias).
struct AttentionOptions {
  std::optional<double> scale = std::nullopt;  ///< unset: 1 / √head_size
  /// Token i attends to the tokens i − window … i + window of its sequence.
  int64_t window = std::numeric_limits<int64_t>::max();
  bool is_causal = false;  ///< true: tokens attend to no token after them
  // Designated initializers may omit them: NOLINTBEGIN(readability-redundant-member-init)
  /// ALiBi: for each head, the factor of the distance that is subtracted; empty: none.
  std::span<const float> distance_slopes = {};
  /// Attention sinks: for each head, a logit that takes part in the softmax of every query and has
  /// no value; empty: none. Must outlive the layer.
  std::span<const float> sinks = {};
  /// One bias for each length group, broadcastable to [sequences, heads, rows, length]; empty:
  /// none.
  std::span<const at::Tensor> biases = {};
  /// Relative-position terms of each head; empty: none. Not combinable with a window.
  std::span<const kernels::HeadPositions> positions = {};
  // NOLINTEND(readability-redundant-member-init)
};

/// Scaled dot-product self-attention of packed sequences. Tokens attend to their own sequence only.
/// prefixes: the queries and the result have their rows; null: one for each token.
/// → [tokens, sequences or rows, heads × head size].
at::Tensor self_attention(const Projections& projections, const PackedBatch& batch,
                          int64_t num_heads, const AttentionOptions& options = {},
                          const SharedPrefixes* prefixes = nullptr);

}  // namespace backend::nn
