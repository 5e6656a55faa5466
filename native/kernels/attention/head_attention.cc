#include "attention/head_attention.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "attention/head_operands.h"

namespace kernels {
namespace {

/// Attention of one head. Operands: FloatOperands or Int8Operands.
template <class Operands>
class Head {
 public:
  Head(const Elementwise& elementwise, const FormatKernel& by, const AttentionHead& head,
       float* memory)
      : elementwise_(elementwise),
        head_(head),
        operands_(elementwise, by, head, memory),
        layout_(operands_.layout()),
        positions_(operands_.positions()) {
    // Limits the window, so that sums with it do not overflow.
    head_.window = std::min(head.window, std::max(head.first_query + head.queries, head.tokens));
  }

  void attend() {
    const int64_t attending = queries_with_tokens();
    clear_results(attending);
    if (attending == 0) return;
    const UsedKernel used(operands_.kernel());
    const int64_t block = layout_.block;
    // Position scores are kept from tile to tile and cover all tokens.
    const int64_t reach = positions_ != nullptr ? head_.tokens + attending : head_.window;
    int64_t tiles = ceil_divide(attending, layout_.mr);
    for (int64_t first = 0, rows = 0; first < attending; first += rows, --tiles) {
      rows = rows_of_tile(operands_.kernel(), attending - first, tiles);
      const int64_t token = head_.first_query + first;
      const int64_t start = std::max<int64_t>(0, token - reach) / block * block;
      const int64_t ahead = head_.is_causal ? 0 : reach;
      const int64_t end = std::min(token + rows + ahead, head_.tokens);
      const QueryTile tile{.first = first,
                           .rows = rows,
                           .start = start,
                           .end = end,
                           .padded = round_up(end - start, block)};
      const RowOperand queries = operands_.queries_of(tile);
      compute_scores(tile, queries);
      if (positions_ != nullptr && positions_->keys) add_key_positions(tile, queries);
      if (positions_ != nullptr && positions_->queries) add_query_positions(tile);
      finish_scores(tile);
      operands_.compute_results(tile);
    }
  }

 private:
  float* scores() const { return operands_.scores(); }

  /// Number of queries that attend to at least one token: those up to the end of the last token's
  /// window.
  int64_t queries_with_tokens() const {
    if (head_.tokens <= 0 || head_.window < 0) return 0;
    return std::clamp<int64_t>(head_.tokens + head_.window - head_.first_query, 0, head_.queries);
  }

  /// Sets the results of the queries from `first` on to 0.
  void clear_results(int64_t first) const {
    for (int64_t query = first; query < head_.queries; ++query) {
      std::fill_n(head_.result + query * head_.result_stride, head_.head_size, 0.0F);
    }
  }

  /// Computes query keyᵀ, [rows, tokens], for the tokens of the tile.
  void compute_scores(const QueryTile& tile, const RowOperand& queries) const {
    for (int64_t token = tile.start; token < tile.end; token += layout_.nr) {
      operands_.multiply(tile.rows, queries, operands_.keys_at(token),
                         scores() + (token - tile.start), layout_.tokens);
    }
  }

  /// Adds the products of queries and key position vectors (content to position).
  void add_key_positions(const QueryTile& tile, const RowOperand& queries) const {
    const int64_t nr = layout_.nr, stride = layout_.by_row_stride;
    const RelativePositionIndex& index = *positions_->index;
    const int64_t lowest = *index.at(tile.start - (tile.first + tile.rows - 1));
    const int64_t start = lowest / nr * nr, end = *index.at(tile.end - 1 - tile.first) + 1;
    float* const by_row = operands_.floats(layout_.by_row);
    for (int64_t row = start; row < end; row += nr) {
      operands_.multiply(tile.rows, queries, operands_.key_vectors(*positions_, row),
                         by_row + (row - start), stride);
    }
    for (int64_t i = 0; i < tile.rows; ++i) {
      elementwise_.add_by_index(scores() + i * layout_.tokens, by_row + i * stride - start,
                                index.at(tile.start - (tile.first + i)),
                                round_up(tile.end - tile.start, nr));
    }
  }

  /// Adds the products of keys and query position vectors (position to content). They are kept in a
  /// ring buffer; only offsets that the previous tile did not have are computed.
  void add_query_positions(const QueryTile& tile) const {
    const int64_t nr = layout_.nr;
    for (int64_t token = tile.start; token < tile.end; token += nr) {
      float* const ring = operands_.floats(layout_.by_offset) + token * kRingRows;
      const int64_t end = tile.first == 0 ? std::min(token + nr, tile.end) : token - tile.first + 1;
      int64_t rows = 0;
      for (int64_t offset = token - (tile.first + tile.rows - 1); offset < end; offset += rows) {
        // NOLINTNEXTLINE(bugprone-signed-bitwise): also correct for negative offsets
        const int64_t slot = offset & (kRingRows - 1);
        rows = std::min({end - offset, layout_.mr, kRingRows - slot});
        operands_.multiply(rows, query_vectors(offset, rows), operands_.keys_at(token),
                           ring + slot * nr, nr);
      }
      elementwise_.add_skewed(scores() + (token - tile.start), layout_.tokens, tile.rows, ring,
                              token - tile.first);
    }
  }

  /// Query position vectors of `count` offsets: in place if they are consecutive rows of a full
  /// tile, otherwise a copy, of which a full tile may be read.
  RowOperand query_vectors(int64_t offset, int64_t count) const {
    const int32_t* const rows = positions_->index->at(offset);
    const auto bytes = positions_->query_bytes;
    const RowScale* const scales = positions_->query_scales.get();
    if (count == layout_.mr && rows[count - 1] - rows[0] == count - 1) {
      return {.values = positions_->queries.get() + rows[0] * bytes,
              .stride = layout_.query_stride,
              .scales = scales != nullptr ? scales + rows[0] : nullptr};
    }
    std::byte* const copies = operands_.value_at(layout_.position_rows, 0);
    RowScale* const copied = operands_.row_scales(layout_.position_scales);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(copies + i * bytes, positions_->queries.get() + rows[i] * bytes,
                  static_cast<size_t>(bytes));
      if (scales != nullptr) copied[i] = scales[rows[i]];
    }
    return {.values = copies, .stride = layout_.query_stride, .scales = copied};
  }

  /// Adds the bias and sets masked scores to −∞, up to the end of the last block.
  void finish_scores(const QueryTile& tile) const {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    const int64_t count = tile.end - tile.start;
    for (int64_t i = 0; i < tile.rows; ++i) {
      const int64_t query = head_.first_query + tile.first + i;
      float* const row = scores() + i * layout_.tokens;
      if (head_.bias != nullptr) {
        const float* const bias = head_.bias + (tile.first + i) * head_.bias_stride + tile.start;
        for (int64_t j = 0; j < count; ++j) row[j] += bias[j];
      }
      const int64_t first = std::max<int64_t>(query - head_.window - tile.start, 0);
      const int64_t ahead = head_.is_causal ? 0 : head_.window;
      const int64_t end = std::min(query + ahead + 1 - tile.start, count);
      if (head_.distance_slope != 0) subtract_distances(query - tile.start, count, row);
      std::fill(row, row + first, kMasked);
      std::fill(row + end, row + tile.padded, kMasked);
    }
  }

  /// Subtracts slope × |query − key| from the scores of a row.
  void subtract_distances(int64_t query, int64_t count, float* row) const {
    for (int64_t j = 0; j < count; ++j) {
      row[j] -= head_.distance_slope * static_cast<float>(std::abs(query - j));
    }
  }

  const Elementwise& elementwise_;
  AttentionHead head_;
  Operands operands_;
  const HeadLayout& layout_;
  const PackedPositions* positions_;
};

}  // namespace

int64_t HeadAttention::scratch(const AttentionHead& longest) const {
  return HeadLayout(by_, longest).size;
}

void HeadAttention::attend(const AttentionHead& head, float* scratch) const {
  if (by_.kernel->int8_attention != nullptr) {
    Head<Int8Operands>(*elementwise_, by_, head, scratch).attend();
  } else {
    Head<FloatOperands>(*elementwise_, by_, head, scratch).attend();
  }
}

}  // namespace kernels
