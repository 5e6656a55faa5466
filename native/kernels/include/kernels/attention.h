// Attention of one head: softmax(scale × query keyᵀ + bias) value.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "kernels/format.h"
#include "kernels/memory.h"

namespace kernels {

struct FormatKernel;
struct RowScale;
class HeadPositions;

/// One head of one sequence. Query i belongs to token first_query + i. A query that attends to no
/// token has the result 0, as in PyTorch's scaled_dot_product_attention; this applies to queries of
/// tokens from tokens + window on.
struct AttentionHead {
  const float* query;    ///< [queries, head_size]
  int64_t queries;       ///< queries beyond `tokens` belong to tokens that no query attends to
  int64_t query_stride;  ///< row stride in floats
  const float* key;      ///< [tokens, head_size]
  const float* value;    ///< [tokens, head_size]
  int64_t tokens;
  int64_t key_value_stride;  ///< row stride of key and value in floats
  int64_t head_size;
  float scale;
  /// The query of token i attends to tokens i − window … i + window; below 0: to none.
  int64_t window;
  const float* bias;    ///< [queries, tokens]; null: no bias
  int64_t bias_stride;  ///< row stride in floats
  /// Terms of disentangled attention (DeBERTa): the score of a query and a key gets query · key
  /// position vector (content to position) and scale × key · query position vector (position to
  /// content) of their offset. Null: no terms. A window only masks the scores and saves no work.
  const HeadPositions* positions;
  float* result;             ///< [queries, head_size]
  int64_t result_stride;     ///< row stride in floats
  bool is_causal = false;    ///< true: the query of token i attends to no token after i
  float distance_slope = 0;  ///< ALiBi: slope × |query − key| is subtracted from a score
  int64_t first_query = 0;   ///< token of query 0; 0 with positions
  /// Logit of the attention sink: it takes part in the softmax of every query, and has no value.
  /// −∞: no sink.
  float sink = -std::numeric_limits<float>::infinity();
};

/// True if this processor has dedicated instructions for attention in this format.
bool has_fast_attention(Format format);

/// Size in floats of the scratch memory of attend() for heads up to the size of `longest`. The
/// memory must start at a cache line; the size is a multiple of a cache line.
int64_t attention_scratch(Format format, const AttentionHead& longest);

/// Computes attention with the fastest kernels of this processor. Both products use the format;
/// scores are float32. A head up to one of the first tokens, or for int8 with few tokens, uses
/// float32, because converting its operands would take longer.
void attend(Format format, const AttentionHead& head, float* scratch);

/// Maps each offset, key − query, to a row of position vectors. Adjacent offsets with equal vectors
/// share a row, so the row number grows by 0 or 1 from an offset to the next.
class RelativePositionIndex {
 public:
  /// table_rows: for the offsets −(max_tokens − 1) … max_tokens − 1, the rows of a table.
  explicit RelativePositionIndex(std::span<const int64_t> table_rows);

  int64_t max_tokens() const { return max_tokens_; }
  /// For each row, the row of the table.
  const std::vector<int64_t>& table_rows() const { return table_rows_; }
  /// Pointer to the row number of an offset; the row numbers of larger offsets follow. Copies of
  /// the last row number follow the end, for padded columns.
  const int32_t* at(int64_t offset) const { return rows_.data() + offset + max_tokens_ - 1; }

 private:
  int64_t max_tokens_;
  std::vector<int32_t> rows_;
  std::vector<int64_t> table_rows_;
};

/// Position vectors of one head, [rows, head_size], with the rows of `index`.
struct PositionVectors {
  const RelativePositionIndex* index;  ///< must outlive packed copies of the vectors
  const float* keys;                   ///< null: no content-to-position term
  const float* queries;                ///< null: no position-to-content term
  int64_t stride;                      ///< row stride in floats
  int64_t head_size;
  float scale;  ///< of the products of queries and `keys`
};

/// Position vectors packed for one kernel.
struct PackedPositions {
  const FormatDescription* format;
  const Kernel* kernel;
  const RelativePositionIndex* index;
  AlignedArray<std::byte> keys;     ///< packed like the keys of a head; null: none
  AlignedArray<std::byte> queries;  ///< [rows, inputs], zero-padded; null: none
  int64_t query_bytes;              ///< size of a row of `queries`
  // int8 only:
  AlignedArray<float> key_scales = nullptr;       ///< [rows], zero-padded to whole panels
  AlignedArray<int32_t> key_sums = nullptr;       ///< [rows], zero-padded to whole panels
  AlignedArray<RowScale> query_scales = nullptr;  ///< [rows]
  AlignedArray<float> query_floats = nullptr;     ///< [rows, head_size]: the exact vectors
};

/// Position vectors packed for every kernel that attend() may use for a format.
class HeadPositions {
 public:
  HeadPositions(Format format, const PositionVectors& vectors);
  /// For a kernel of the caller's choice.
  explicit HeadPositions(PackedPositions packed);

  const RelativePositionIndex& index() const { return *packed_.front().index; }
  /// by: a kernel that the vectors are packed for.
  const PackedPositions& packed_for(const FormatKernel& by) const;

 private:
  std::vector<PackedPositions> packed_;
};

}  // namespace kernels
