#include "gemm/attention.h"

#include <algorithm>
#include <limits>

#include "kernel.h"
#include "tiling.h"

namespace gemm {
namespace {

constexpr float kNoBias[kWidestPanel] = {};

/// How one call uses its memory. Keys and values lie as panels, like the weights of a linear layer.
struct Layout {
  Layout(const Kernel& kernel, int64_t tokens, int64_t head_size)
      : width(kernel.panel_width),
        score_stride(ceil_divide(tokens, width) * width),
        keys_size(score_stride * head_size),
        values_size(ceil_divide(head_size, width) * width * tokens),
        scores_size(score_stride * kernel.tile_rows) {}

  int64_t width;
  int64_t score_stride;
  int64_t keys_size;    ///< [panels of tokens, head_size, width]
  int64_t values_size;  ///< [panels of the head, tokens, width]
  int64_t scores_size;  ///< [rows of a tile, score_stride]
};

struct Scratch : Layout {
  Scratch(const Layout& layout, float* memory)
      : Layout(layout), keys(memory), values(keys + keys_size), scores(values + values_size) {}

  float* keys;
  float* values;
  float* scores;
};

/// Some queries, and the tokens that one of them or another sees.
struct QueryTile {
  int64_t first, rows;
  int64_t start;  ///< of a panel
  int64_t end;    ///< of the tokens
};

/// A tile whose panel is in the cache already.
Tile make_tile(const float* a, int64_t a_stride, const float* panel, int64_t inputs, float* c,
               int64_t c_stride) {
  return {.a = a,
          .a_stride = a_stride,
          .panel = panel,
          .inputs = inputs,
          .bias = kNoBias,
          .c = c,
          .c_stride = c_stride,
          .prefetch = reinterpret_cast<const char*>(panel),
          .prefetch_step = 0};
}

/// Of the tokens from tile.start to the end of a panel; those that a query does not see get −∞.
void compute_scores(const Kernel& kernel, const AttentionHead& head, const QueryTile& tile,
                    const Scratch& scratch) {
  for (int64_t token = tile.start; token < tile.end; token += scratch.width) {
    kernel.float32_tiles[tile.rows - 1](
        make_tile(head.query + tile.first * head.query_stride, head.query_stride,
                  scratch.keys + token * head.head_size, head.head_size,
                  scratch.scores + (token - tile.start), scratch.score_stride));
  }
  constexpr float kUnseen = -std::numeric_limits<float>::infinity();
  const int64_t count = tile.end - tile.start;
  const int64_t filled = ceil_divide(count, scratch.width) * scratch.width;
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t query = tile.first + i;
    float* const scores = scratch.scores + i * scratch.score_stride;
    if (head.bias != nullptr) {
      const float* const bias = head.bias + query * head.bias_stride + tile.start;
      for (int64_t j = 0; j < count; ++j) scores[j] += bias[j];
    }
    const int64_t first = std::max<int64_t>(query - head.reach - tile.start, 0);
    const int64_t end = std::min(query + head.reach + 1 - tile.start, count);
    std::fill(scores, scores + first, kUnseen);
    std::fill(scores + end, scores + filled, kUnseen);
  }
}

/// The values, weighted by the scores.
void compute_results(const Kernel& kernel, const AttentionHead& head, const QueryTile& tile,
                     const Scratch& scratch, const float* sums) {
  const int64_t width = scratch.width;
  for (int64_t first = 0; first < head.head_size; first += width) {
    float results[kMostTileRows * kWidestPanel];
    kernel.float32_tiles[tile.rows - 1](
        make_tile(scratch.scores, scratch.score_stride,
                  scratch.values + first * head.tokens + tile.start * width, tile.end - tile.start,
                  results, width));
    const int64_t count = std::min(width, head.head_size - first);
    for (int64_t i = 0; i < tile.rows; ++i) {
      const float factor = 1 / sums[i];
      float* const to = head.result + (tile.first + i) * head.result_stride + first;
      for (int64_t j = 0; j < count; ++j) to[j] = results[i * width + j] * factor;
    }
  }
}

}  // namespace

int64_t attention_scratch(int64_t tokens, int64_t head_size) {
  return attention_scratch(best_kernel(), tokens, head_size);
}

void attend(const AttentionHead& head, float* scratch) { attend(best_kernel(), head, scratch); }

int64_t attention_scratch(const Kernel& kernel, int64_t tokens, int64_t head_size) {
  const Layout layout(kernel, tokens, head_size);
  return layout.keys_size + layout.values_size + layout.scores_size;
}

void attend(const Kernel& kernel, const AttentionHead& whole, float* memory) {
  AttentionHead head = whole;
  head.reach = std::min(head.reach, head.tokens);
  const Scratch scratch(Layout(kernel, head.tokens, head.head_size), memory);
  kernel.pack_keys(head, scratch.keys);
  kernel.pack_values(head, scratch.values);
  int64_t tiles = ceil_divide(head.queries, kernel.tile_rows);
  for (int64_t first = 0, rows = 0; first < head.queries; first += rows, --tiles) {
    rows = ceil_divide(head.queries - first, tiles);
    const int64_t start = std::max<int64_t>(0, first - head.reach) / scratch.width * scratch.width;
    const QueryTile tile{.first = first,
                         .rows = rows,
                         .start = start,
                         .end = std::min(first + rows + head.reach, head.tokens)};
    compute_scores(kernel, head, tile, scratch);
    float sums[kMostTileRows];
    const int64_t filled = ceil_divide(tile.end - tile.start, scratch.width) * scratch.width;
    kernel.exponentials(scratch.scores, tile.rows, scratch.score_stride, filled, sums);
    compute_results(kernel, head, tile, scratch, sums);
  }
}

}  // namespace gemm
