// Attention: two products with a softmax between them.
#pragma once

#include <cstdint>

namespace gemm {

struct Kernel;

/// One head of one sequence: result = softmax(scale × query keyᵀ + bias) value, in float32. Query i
/// is that of token i.
struct AttentionHead {
  const float* query;  ///< [queries, head_size], query_stride floats from row to row
  int64_t queries;     ///< at most `tokens`
  int64_t query_stride;
  const float* key;    ///< [tokens, head_size], key_value_stride floats from row to row
  const float* value;  ///< the same
  int64_t tokens;
  int64_t key_value_stride;
  int64_t head_size;
  float scale;
  int64_t reach;      ///< query i sees the tokens from i − reach to i + reach, at least 0
  const float* bias;  ///< [queries, tokens], bias_stride floats from row to row; null for none
  int64_t bias_stride;
  float* result;  ///< [queries, head_size], result_stride floats from row to row
  int64_t result_stride;
};

/// How many floats of memory attend() needs to work.
int64_t attention_scratch(int64_t tokens, int64_t head_size);

void attend(const AttentionHead& head, float* scratch);

/// The same with a kernel of the caller's choice, for tests.
int64_t attention_scratch(const Kernel& kernel, int64_t tokens, int64_t head_size);
void attend(const Kernel& kernel, const AttentionHead& head, float* scratch);

}  // namespace gemm
