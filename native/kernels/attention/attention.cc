#include "kernels/attention.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>

#include "attention/head_attention.h"
#include "attention/head_layout.h"

namespace kernels {
namespace {

/// Below, laying out keys and values in other numbers takes as long as their products gain or
/// longer (bench/products.cc, on a Zen 4).
constexpr int64_t kFewQueries = 16;

/// Of a product's tile.
constexpr float kNoBias[kWidestPanel] = {};

/// Some queries, and the tokens that one of them or another sees.
struct QueryTile {
  int64_t first, rows;
  int64_t start;   ///< of a panel
  int64_t end;     ///< of the tokens
  int64_t filled;  ///< tokens from the start on, to the end of a panel
};

/// One head's attention in any number format: its keys and values lie as panels, like the weights
/// of a linear layer.
class Head {
 public:
  /// Lays out its keys and values.
  Head(const Elementwise& elementwise, const FormatKernel& by, const AttentionHead& head,
       float* memory)
      : elementwise_(elementwise),
        kernel_(*by.kernel),
        layout_(by, head),
        head_(head),
        positions_(head.positions != nullptr ? &head.positions->packed_for(by) : nullptr),
        memory_(memory) {
    // So that it can be added to.
    head_.window = std::min(head.window, std::max(head.queries, head.tokens));
    const auto lay_out = [&](auto pack, int64_t inputs, int64_t filled, int64_t panels,
                             int64_t piece) {
      pack(head, memory + (layout_.is_rounded ? layout_.stored : piece));
      if (layout_.is_rounded) round_panels(inputs, filled, panels, piece);
    };
    lay_out(elementwise.pack_keys, head.head_size, layout_.inputs, layout_.tokens / layout_.width,
            layout_.keys);
    lay_out(elementwise.pack_values, head.tokens, layout_.value_inputs, layout_.head_panels,
            layout_.values);
  }

  void attend() {
    const int64_t seeing = queries_with_tokens();
    clear_results(seeing);
    if (seeing == 0) return;
    const int64_t width = layout_.width;
    // Vectors by offset are kept from tile to tile, of all tokens.
    const int64_t reach = positions_ != nullptr ? head_.tokens + seeing : head_.window;
    int64_t tiles = ceil_divide(seeing, layout_.rows);
    for (int64_t first = 0, rows = 0; first < seeing; first += rows, --tiles) {
      rows = ceil_divide(seeing - first, tiles);
      const int64_t start = std::max<int64_t>(0, first - reach) / width * width;
      const int64_t end = std::min(first + rows + reach, head_.tokens);
      const QueryTile tile{.first = first,
                           .rows = rows,
                           .start = start,
                           .end = end,
                           .filled = filled_up(end - start, width)};
      const Factor queries = queries_of(tile);
      compute_scores(tile, queries);
      if (positions_ != nullptr && positions_->keys) add_key_positions(tile, queries);
      if (positions_ != nullptr && positions_->queries) add_query_positions(tile);
      finish_scores(tile);
      float sums[kMaxTileRows];
      compute_results(tile, exponentials_of(tile, sums), sums);
    }
  }

 private:
  /// Rows as they are multiplied.
  struct Factor {
    const void* values;
    int64_t stride;
  };
  /// The same of a panel.
  struct Panel {
    const std::byte* values;
    int64_t inputs;
  };

  float* scores() const { return memory_ + layout_.scores; }

  /// Number of queries that see at least one token: those before the end of the last token's
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
  std::byte* numbers(int64_t piece, int64_t index) const {
    return reinterpret_cast<std::byte*>(memory_ + piece) + index * kernel_.value_bytes;
  }

  /// Of what is stored.
  void round_panels(int64_t inputs, int64_t filled, int64_t panels, int64_t piece) const {
    const int64_t width = layout_.width;
    for (int64_t panel = 0; panel < panels; ++panel) {
      std::byte* const to = numbers(piece, panel * filled * width);
      kernel_.round_panel({.from = memory_ + layout_.stored + panel * inputs * width,
                           .inputs = inputs,
                           .filled = filled,
                           .to = reinterpret_cast<uint16_t*>(to)});
    }
  }

  /// The rows themselves, where numbers are multiplied as they are.
  Factor rounded(const RowsToRound& rows) const {
    if (!layout_.is_rounded) return {.values = rows.from, .stride = rows.stride};
    kernel_.round_rows(rows);
    return {.values = rows.to, .stride = rows.to_stride};
  }

  /// The panels before it are so many columns wide, each of `inputs` numbers.
  Panel panel_at(int64_t piece, int64_t inputs, int64_t column) const {
    return {.values = numbers(piece, column * inputs), .inputs = inputs};
  }

  /// The panel is in the cache already.
  void multiply(int64_t rows, const Factor& a, const Panel& panel, float* to,
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

  Factor queries_of(const QueryTile& tile) const {
    return rounded({.from = head_.query + tile.first * head_.query_stride,
                    .stride = head_.query_stride,
                    .rows = tile.rows,
                    .count = head_.head_size,
                    .to = numbers(layout_.queries, 0),
                    .to_stride = layout_.query_stride,
                    .filled = layout_.inputs});
  }

  Panel keys_at(int64_t token) const { return panel_at(layout_.keys, layout_.inputs, token); }

  /// query keyᵀ: [rows, tokens], of the tokens from the tile's start on.
  void compute_scores(const QueryTile& tile, const Factor& queries) const {
    for (int64_t token = tile.start; token < tile.end; token += layout_.width) {
      multiply(tile.rows, queries, keys_at(token), scores() + (token - tile.start), layout_.tokens);
    }
  }

  /// Queries with the key vectors of the offsets that the tile has.
  void add_key_positions(const QueryTile& tile, const Factor& queries) const {
    const int64_t width = layout_.width, stride = layout_.by_row_stride;
    const OffsetRows& offsets = *positions_->offsets;
    const int64_t lowest = *offsets.at(tile.start - (tile.first + tile.rows - 1));
    const int64_t start = lowest / width * width, end = *offsets.at(tile.end - 1 - tile.first) + 1;
    float* const by_row = memory_ + layout_.by_row;
    for (int64_t row = start; row < end; row += width) {
      const int64_t before = row * layout_.inputs;
      multiply(tile.rows, queries,
               {.values = positions_->keys.get() + before * kernel_.value_bytes,
                .inputs = layout_.inputs},
               by_row + (row - start), stride);
    }
    for (int64_t i = 0; i < tile.rows; ++i) {
      elementwise_.add_by_row(scores() + i * layout_.tokens, by_row + i * stride - start,
                              offsets.at(tile.start - (tile.first + i)), tile.filled);
    }
  }

  /// Keys with the query vectors of the offsets that the tile has, those that no tile before it
  /// had.
  void add_query_positions(const QueryTile& tile) const {
    const int64_t width = layout_.width;
    for (int64_t token = tile.start; token < tile.end; token += width) {
      float* const ring = memory_ + layout_.by_offset + token * kOffsetsKept;
      const int64_t end =
          tile.first == 0 ? std::min(token + width, tile.end) : token - tile.first + 1;
      int64_t rows = 0;
      for (int64_t offset = token - (tile.first + tile.rows - 1); offset < end; offset += rows) {
        // NOLINTNEXTLINE(bugprone-signed-bitwise): of negative ones, too
        const int64_t place = offset & (kOffsetsKept - 1);
        rows = std::min({end - offset, layout_.rows, kOffsetsKept - place});
        multiply(rows, query_vectors(offset, rows), keys_at(token), ring + place * width, width);
      }
      elementwise_.add_diagonals(scores() + (token - tile.start), layout_.tokens, tile.rows, ring,
                                 token - tile.first);
    }
  }

  /// Of these offsets: where they lie, or copied to where a full tile may be read.
  Factor query_vectors(int64_t offset, int64_t count) const {
    const int32_t* const rows = positions_->offsets->at(offset);
    const auto bytes = positions_->query_bytes;
    Factor factor{.values = positions_->queries.get() + rows[0] * bytes,
                  .stride = layout_.query_stride};
    if (count == layout_.rows && rows[count - 1] - rows[0] == count - 1) return factor;
    std::byte* const copies = numbers(layout_.position_rows, 0);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(copies + i * bytes, positions_->queries.get() + rows[i] * bytes,
                  static_cast<size_t>(bytes));
    }
    factor.values = copies;
    return factor;
  }

  /// To the end of a panel: what is added to the scores, and −∞ for what a query does not see.
  void finish_scores(const QueryTile& tile) const {
    constexpr float kUnseen = -std::numeric_limits<float>::infinity();
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
      std::fill(row, row + first, kUnseen);
      std::fill(row + end, row + tile.filled, kUnseen);
    }
  }

  /// Of the scores; those of unseen tokens are next to 0. sums: [rows], of these.
  Factor exponentials_of(const QueryTile& tile, float* sums) const {
    const RowsToRound rows{.from = scores(),
                           .stride = layout_.tokens,
                           .rows = tile.rows,
                           .count = tile.filled,
                           .to = numbers(layout_.weights, 0),
                           .to_stride = layout_.tokens,
                           .filled = tile.filled};
    if (kernel_.round_exponentials != nullptr) {
      kernel_.round_exponentials(rows, sums);
      return {.values = rows.to, .stride = rows.to_stride};
    }
    elementwise_.exponentials(scores(), tile.rows, layout_.tokens, tile.filled, sums);
    return rounded(rows);
  }

  /// The values, weighted.
  void compute_results(const QueryTile& tile, const Factor& weights, const float* sums) const {
    const int64_t width = layout_.width;
    for (int64_t first = 0; first < head_.head_size; first += width) {
      float results[kMaxTileRows * kWidestPanel];
      Panel values = panel_at(layout_.values, layout_.value_inputs, first);
      values.values += tile.start * width * kernel_.value_bytes;
      values.inputs = layout_.is_rounded ? tile.filled : tile.end - tile.start;
      multiply(tile.rows, weights, values, results, width);
      const int64_t count = std::min(width, head_.head_size - first);
      for (int64_t i = 0; i < tile.rows; ++i) {
        const float factor = 1 / sums[i];
        float* const to = head_.result + (tile.first + i) * head_.result_stride + first;
        for (int64_t j = 0; j < count; ++j) to[j] = results[i * width + j] * factor;
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

/// Panels of keys and values are laid out by the one and read by the other.
bool fits(const FormatKernel& by) { return 2 * best_elementwise().lanes == by.kernel->panel_width; }

}  // namespace

HeadAttention best_attention(Format format) {
  const FormatDescription& wanted = description_of(format);
  if (!wanted.attends) return best_attention(Format::kFloat32);
  const FormatKernel best(format);
  if (fits(best)) return {best_elementwise(), best};
  return {kElementwisePortable, {wanted, *wanted.kernels.back()}};
}

bool attends_fast(Format format) {
  return description_of(format).attends && is_fast(format) && fits(format);
}

int64_t attention_scratch(Format format, const AttentionHead& longest) {
  return std::max(best_attention(Format::kFloat32).scratch(longest),
                  best_attention(format).scratch(longest));
}

void attend(Format format, const AttentionHead& head, float* scratch) {
  best_attention(head.queries < kFewQueries ? Format::kFloat32 : format).attend(head, scratch);
}

int64_t HeadAttention::scratch(const AttentionHead& longest) const {
  return HeadLayout(by_, longest).size;
}

void HeadAttention::attend(const AttentionHead& head, float* scratch) const {
  Head(*elementwise_, by_, head, scratch).attend();
}

}  // namespace kernels
