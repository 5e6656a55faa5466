#include "attention/head_attention.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "attention/head_layout.h"

namespace kernels {
namespace {

constexpr float kNoBias[kMaxNr] = {};

/// Consecutive queries, and the range of tokens that they attend to.
struct QueryTile {
  int64_t first, rows;
  int64_t start;   ///< first token, at the start of a panel
  int64_t end;     ///< end of the tokens
  int64_t padded;  ///< number of tokens from `start` to the end of the last panel
};

/// Attention of one head in any number format. Keys and values are packed into panels, like the
/// weights of a linear layer.
class Head {
 public:
  /// Packs the keys and values into `memory`.
  Head(const Elementwise& elementwise, const FormatKernel& by, const AttentionHead& head,
       float* memory)
      : elementwise_(elementwise),
        kernel_(*by.kernel),
        layout_(by, head),
        head_(head),
        positions_(head.positions != nullptr ? &head.positions->packed_for(by) : nullptr),
        memory_(memory) {
    // Limits the window, so that sums with it do not overflow.
    head_.window = std::min(head.window, std::max(head.queries, head.tokens));
    const auto pack = [&](auto pack_floats, int64_t inputs, int64_t padded, int64_t panels,
                          int64_t offset) {
      pack_floats(head, memory + (layout_.needs_packing ? layout_.stored : offset));
      if (layout_.needs_packing) round_panels(inputs, padded, panels, offset);
    };
    pack(elementwise.pack_keys, head.head_size, layout_.inputs, layout_.tokens / layout_.nr,
         layout_.keys);
    pack(elementwise.pack_values, head.tokens, layout_.value_inputs, layout_.head_panels,
         layout_.values);
  }

  void attend() {
    const int64_t attending = queries_with_tokens();
    clear_results(attending);
    if (attending == 0) return;
    const int64_t nr = layout_.nr;
    // Position scores are kept from tile to tile and cover all tokens.
    const int64_t reach = positions_ != nullptr ? head_.tokens + attending : head_.window;
    int64_t tiles = ceil_divide(attending, layout_.mr);
    for (int64_t first = 0, rows = 0; first < attending; first += rows, --tiles) {
      rows = ceil_divide(attending - first, tiles);
      const int64_t start = std::max<int64_t>(0, first - reach) / nr * nr;
      const int64_t end = std::min(first + rows + reach, head_.tokens);
      const QueryTile tile{.first = first,
                           .rows = rows,
                           .start = start,
                           .end = end,
                           .padded = round_up(end - start, nr)};
      const Operand queries = queries_of(tile);
      compute_scores(tile, queries);
      if (positions_ != nullptr && positions_->keys) add_key_positions(tile, queries);
      if (positions_ != nullptr && positions_->queries) add_query_positions(tile);
      finish_scores(tile);
      float sums[kMaxMr];
      compute_results(tile, exponentials_of(tile, sums), sums);
    }
  }

 private:
  /// Rows of a left operand. stride: row stride in values.
  struct Operand {
    const void* values;
    int64_t stride;
  };
  struct Panel {
    const std::byte* values;
    int64_t inputs;
  };

  float* scores() const { return memory_ + layout_.scores; }

  /// Number of queries that attend to at least one token: those up to the end of the last token's
  /// window.
  int64_t queries_with_tokens() const {
    if (head_.tokens <= 0 || head_.window < 0) return 0;
    return std::min(head_.queries, head_.tokens + head_.window);
  }

  /// Sets the results of the queries from `first` on to 0.
  void clear_results(int64_t first) const {
    for (int64_t query = first; query < head_.queries; ++query) {
      std::fill_n(head_.result + query * head_.result_stride, head_.head_size, 0.0F);
    }
  }
  /// Address of a value in a region of the memory. offset: start of the region, see HeadLayout.
  std::byte* value_at(int64_t offset, int64_t index) const {
    return reinterpret_cast<std::byte*>(memory_ + offset) + index * kernel_.value_bytes;
  }

  /// Rounds the float32 panels in layout_.stored.
  void round_panels(int64_t inputs, int64_t padded, int64_t panels, int64_t offset) const {
    const int64_t nr = layout_.nr;
    for (int64_t panel = 0; panel < panels; ++panel) {
      std::byte* const to = value_at(offset, panel * padded * nr);
      kernel_.pack_b_block({.from = memory_ + layout_.stored + panel * inputs * nr,
                            .inputs = inputs,
                            .padded = padded,
                            .to = reinterpret_cast<uint16_t*>(to)});
    }
  }

  /// Packs rows of a left operand. Returns the rows themselves if the kernel multiplies float32.
  Operand pack_a(const RowsToPack& rows) const {
    if (!layout_.needs_packing) return {.values = rows.from, .stride = rows.stride};
    kernel_.pack_a(rows);
    return {.values = rows.to, .stride = rows.to_stride};
  }

  /// The panel that starts at a column.
  Panel panel_at(int64_t offset, int64_t inputs, int64_t column) const {
    return {.values = value_at(offset, column * inputs), .inputs = inputs};
  }

  /// Computes one tile. Nothing is prefetched: the panel is in the cache.
  void multiply(int64_t rows, const Operand& a, const Panel& panel, float* to,
                int64_t to_stride) const {
    kernel_.tiles[rows - 1]({.a = a.values,
                             .a_stride = a.stride,
                             .panel = panel.values,
                             .inputs = panel.inputs,
                             .bias = kNoBias,
                             .c = to,
                             .c_stride = to_stride,
                             .prefetch = reinterpret_cast<const char*>(panel.values),
                             .prefetch_step = 0});
  }

  Operand queries_of(const QueryTile& tile) const {
    return pack_a({.from = head_.query + tile.first * head_.query_stride,
                   .stride = head_.query_stride,
                   .rows = tile.rows,
                   .count = head_.head_size,
                   .to = value_at(layout_.queries, 0),
                   .to_stride = layout_.query_stride,
                   .padded = layout_.inputs});
  }

  Panel keys_at(int64_t token) const { return panel_at(layout_.keys, layout_.inputs, token); }

  /// Computes query keyᵀ, [rows, tokens], for the tokens of the tile.
  void compute_scores(const QueryTile& tile, const Operand& queries) const {
    for (int64_t token = tile.start; token < tile.end; token += layout_.nr) {
      multiply(tile.rows, queries, keys_at(token), scores() + (token - tile.start), layout_.tokens);
    }
  }

  /// Adds the products of queries and key position vectors (content to position).
  void add_key_positions(const QueryTile& tile, const Operand& queries) const {
    const int64_t nr = layout_.nr, stride = layout_.by_row_stride;
    const RelativePositionIndex& index = *positions_->index;
    const int64_t lowest = *index.at(tile.start - (tile.first + tile.rows - 1));
    const int64_t start = lowest / nr * nr, end = *index.at(tile.end - 1 - tile.first) + 1;
    float* const by_row = memory_ + layout_.by_row;
    for (int64_t row = start; row < end; row += nr) {
      const int64_t before = row * layout_.inputs;
      multiply(tile.rows, queries,
               {.values = positions_->keys.get() + before * kernel_.value_bytes,
                .inputs = layout_.inputs},
               by_row + (row - start), stride);
    }
    for (int64_t i = 0; i < tile.rows; ++i) {
      elementwise_.add_by_index(scores() + i * layout_.tokens, by_row + i * stride - start,
                                index.at(tile.start - (tile.first + i)), tile.padded);
    }
  }

  /// Adds the products of keys and query position vectors (position to content). They are kept in a
  /// ring buffer; only offsets that the previous tile did not have are computed.
  void add_query_positions(const QueryTile& tile) const {
    const int64_t nr = layout_.nr;
    for (int64_t token = tile.start; token < tile.end; token += nr) {
      float* const ring = memory_ + layout_.by_offset + token * kRingRows;
      const int64_t end = tile.first == 0 ? std::min(token + nr, tile.end) : token - tile.first + 1;
      int64_t rows = 0;
      for (int64_t offset = token - (tile.first + tile.rows - 1); offset < end; offset += rows) {
        // NOLINTNEXTLINE(bugprone-signed-bitwise): also correct for negative offsets
        const int64_t slot = offset & (kRingRows - 1);
        rows = std::min({end - offset, layout_.mr, kRingRows - slot});
        multiply(rows, query_vectors(offset, rows), keys_at(token), ring + slot * nr, nr);
      }
      elementwise_.add_skewed(scores() + (token - tile.start), layout_.tokens, tile.rows, ring,
                              token - tile.first);
    }
  }

  /// Query position vectors of `count` offsets: in place if they are consecutive rows of a full
  /// tile, otherwise a copy, of which a full tile may be read.
  Operand query_vectors(int64_t offset, int64_t count) const {
    const int32_t* const rows = positions_->index->at(offset);
    const auto bytes = positions_->query_bytes;
    Operand vectors{.values = positions_->queries.get() + rows[0] * bytes,
                    .stride = layout_.query_stride};
    if (count == layout_.mr && rows[count - 1] - rows[0] == count - 1) return vectors;
    std::byte* const copies = value_at(layout_.position_rows, 0);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(copies + i * bytes, positions_->queries.get() + rows[i] * bytes,
                  static_cast<size_t>(bytes));
    }
    vectors.values = copies;
    return vectors;
  }

  /// Adds the bias and sets masked scores to −∞, up to the end of the last panel.
  void finish_scores(const QueryTile& tile) const {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    const int64_t count = tile.end - tile.start;
    for (int64_t i = 0; i < tile.rows; ++i) {
      const int64_t query = tile.first + i;
      float* const row = scores() + i * layout_.tokens;
      if (head_.bias != nullptr) {
        const float* const bias = head_.bias + query * head_.bias_stride + tile.start;
        for (int64_t j = 0; j < count; ++j) row[j] += bias[j];
      }
      const int64_t first = std::max<int64_t>(query - head_.window - tile.start, 0);
      const int64_t end = std::min(query + head_.window + 1 - tile.start, count);
      std::fill(row, row + first, kMasked);
      std::fill(row + end, row + tile.padded, kMasked);
    }
  }

  /// Softmax numerators of the scores. sums: [rows], row sums.
  Operand exponentials_of(const QueryTile& tile, float* sums) const {
    const RowsToPack rows{.from = scores(),
                          .stride = layout_.tokens,
                          .rows = tile.rows,
                          .count = tile.padded,
                          .to = value_at(layout_.weights, 0),
                          .to_stride = layout_.tokens,
                          .padded = tile.padded};
    if (kernel_.pack_exponentials != nullptr) {
      kernel_.pack_exponentials(rows, sums);
      return {.values = rows.to, .stride = rows.to_stride};
    }
    elementwise_.exponentials(scores(), tile.rows, layout_.tokens, tile.padded, sums);
    return pack_a(rows);
  }

  /// Multiplies the softmax numerators with the values and divides by their sums.
  void compute_results(const QueryTile& tile, const Operand& weights, const float* sums) const {
    const int64_t nr = layout_.nr;
    for (int64_t first = 0; first < head_.head_size; first += nr) {
      float results[kMaxMr * kMaxNr];
      Panel values = panel_at(layout_.values, layout_.value_inputs, first);
      values.values += tile.start * nr * kernel_.value_bytes;
      values.inputs = layout_.needs_packing ? tile.padded : tile.end - tile.start;
      multiply(tile.rows, weights, values, results, nr);
      const int64_t count = std::min(nr, head_.head_size - first);
      for (int64_t i = 0; i < tile.rows; ++i) {
        const float factor = 1 / sums[i];
        float* const to = head_.result + (tile.first + i) * head_.result_stride + first;
        for (int64_t j = 0; j < count; ++j) to[j] = results[i * nr + j] * factor;
      }
    }
  }

  const Elementwise& elementwise_;
  const Kernel& kernel_;
  HeadLayout layout_;
  AttentionHead head_;
  const PackedPositions* positions_;
  float* memory_;
};

}  // namespace

int64_t HeadAttention::scratch(const AttentionHead& longest) const {
  return HeadLayout(by_, longest).size;
}

void HeadAttention::attend(const AttentionHead& head, float* scratch) const {
  Head(*elementwise_, by_, head, scratch).attend();
}

}  // namespace kernels
