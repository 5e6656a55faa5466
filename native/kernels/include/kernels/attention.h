// Attention: two products with a softmax between them.
#pragma once

#include <cstdint>

#include "kernels/format.h"
#include "kernels/relative_positions.h"

namespace kernels {

/// One head of one sequence: result = softmax(scale × query keyᵀ + bias) value. Query i is that of
/// token i. The result of a query that sees no token is 0, as in PyTorch's
/// scaled_dot_product_attention; such queries are allowed: those from tokens + window on.
struct AttentionHead {
  const float* query;  ///< [queries, head_size], query_stride floats from row to row
  int64_t queries;     ///< those beyond `tokens` are of tokens that none sees
  int64_t query_stride;
  const float* key;    ///< [tokens, head_size], key_value_stride floats from row to row
  const float* value;  ///< the same
  int64_t tokens;
  int64_t key_value_stride;
  int64_t head_size;
  float scale;
  int64_t window;     ///< query i sees the tokens from i − window to i + window; below 0: none
  const float* bias;  ///< [queries, tokens], bias_stride floats from row to row; null for none
  int64_t bias_stride;
  /// To the score of a query and a key come the products of the query with the key vector of their
  /// offset and of scale × key with the query vector; null for none. A window restricts the tokens
  /// that a query sees, but saves no work.
  const HeadPositions* positions;
  float* result;  ///< [queries, head_size], result_stride floats from row to row
  int64_t result_stride;
};

/// Whether this processor has instructions that are made for both products of a head in this
/// format. Without, they are right, but slow.
bool attends_fast(Format format);

/// How many floats of memory attend() needs to work on a head of so many tokens or fewer, which
/// begin with a cache line: a multiple of what one has.
int64_t attention_scratch(Format format, const AttentionHead& longest);

/// With the best kernels of this processor. Both products are in the format, their sums and what
/// lies between them in float32. A head of few queries is multiplied in float32 in every format:
/// what is rounded is used too seldom to be worth it.
void attend(Format format, const AttentionHead& head, float* scratch);

}  // namespace kernels
