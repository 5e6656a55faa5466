// Vectors by relative position, as disentangled attention adds them to the scores: a query is
// multiplied with the key vector of an offset, a key with the query vector.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/aligned.h"
#include "kernels/format.h"

namespace kernels {

struct FormatKernel;

/// Which vector belongs to each offset, key − query. Neighbours that share one share a row here, so
/// that rows grow by 0 or 1 from each offset to the next.
class OffsetRows {
 public:
  /// table_rows: of the offsets −(max_tokens − 1) … max_tokens − 1, the rows of a table.
  explicit OffsetRows(std::span<const int64_t> table_rows);

  int64_t max_tokens() const { return max_tokens_; }
  /// Of a table, by row.
  const std::vector<int64_t>& table_rows() const { return table_rows_; }
  /// Where the row of this offset stands, between those of its neighbours; some more of the last
  /// one's stand behind it.
  const int32_t* at(int64_t offset) const { return rows_.data() + offset + max_tokens_ - 1; }

 private:
  int64_t max_tokens_;
  std::vector<int32_t> rows_;
  std::vector<int64_t> table_rows_;
};

/// Vectors of one head, [rows, head_size] each, of which the rows are those of `offsets`.
struct PositionVectors {
  const OffsetRows* offsets;  ///< has to be there as long as what is made of it
  const float* keys;          ///< null: there are none
  const float* queries;       ///< null: there are none
  int64_t stride;             ///< floats from row to row
  int64_t head_size;
  float scale;  ///< of the products of queries and `keys`
};

/// They, laid out once for the products of a kernel.
struct PackedPositions {
  const FormatDescription* format;
  const Kernel* kernel;
  const OffsetRows* offsets;
  AlignedArray<std::byte> keys;     ///< like the keys of a head; null: there are none
  AlignedArray<std::byte> queries;  ///< [rows, inputs], filled up; null: there are none
  int64_t query_bytes;              ///< of a row
};

/// They, for every kernel that attend() may take for this format.
class HeadPositions {
 public:
  HeadPositions(Format format, const PositionVectors& vectors);
  /// For kernels of the caller's choice.
  explicit HeadPositions(PackedPositions packed);

  const OffsetRows& offsets() const { return *packed_.front().offsets; }
  /// One of those that it was made for.
  const PackedPositions& packed_for(const FormatKernel& by) const;

 private:
  std::vector<PackedPositions> packed_;
};

}  // namespace kernels
