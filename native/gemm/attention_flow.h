// Attention of one head, whatever its products are made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "gemm/attention.h"
#include "kernel.h"
#include "tiling.h"

namespace gemm {

/// Of a cache line.
constexpr int64_t kLineFloats = 64 / sizeof(float);

/// Of a product's tile.
constexpr float kNoBias[kWidestPanel] = {};

/// Some queries, and the tokens that one of them or another sees.
struct QueryTile {
  int64_t first, rows;
  int64_t start;  ///< of a panel
  int64_t end;    ///< of the tokens

  /// Tokens to the end of a panel of so many.
  int64_t filled(int64_t width) const { return filled_up(end - start, width); }
};

/// Scores of a tile's queries: [rows, stride], of the tokens from its start on.
struct Scores {
  float* values;
  int64_t stride;
};

/// To the end of a panel: what is added to the scores, and −∞ for what a query does not see.
inline void finish_scores(const AttentionHead& head, const QueryTile& tile, int64_t width,
                          const Scores& all) {
  constexpr float kUnseen = -std::numeric_limits<float>::infinity();
  const int64_t count = tile.end - tile.start;
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t query = tile.first + i;
    float* const scores = all.values + i * all.stride;
    if (head.bias != nullptr) {
      const float* const bias = head.bias + query * head.bias_stride + tile.start;
      for (int64_t j = 0; j < count; ++j) scores[j] += bias[j];
    }
    const int64_t first = std::max<int64_t>(query - head.reach - tile.start, 0);
    const int64_t end = std::min(query + head.reach + 1 - tile.start, count);
    std::fill(scores, scores + first, kUnseen);
    std::fill(scores + end, scores + tile.filled(width), kUnseen);
  }
}

/// The values, weighted by what `products` has taken for weights.
template <class Products>
void compute_results(const AttentionHead& head, const QueryTile& tile, Products& products,
                     const float* sums) {
  const int64_t width = products.width();
  for (int64_t first = 0; first < head.head_size; first += width) {
    float results[kMostTileRows * kWidestPanel];
    products.compute_results(tile, first / width, results);
    const int64_t count = std::min(width, head.head_size - first);
    for (int64_t i = 0; i < tile.rows; ++i) {
      const float factor = 1 / sums[i];
      float* const to = head.result + (tile.first + i) * head.result_stride + first;
      for (int64_t j = 0; j < count; ++j) to[j] = results[i * width + j] * factor;
    }
  }
}

/// Products: of a head whose keys and values are laid out already.
///   width(), tile_rows(), row_step(): see BFloat16Kernel
///   compute_scores(tile, scores): query keyᵀ
///   take_weights(tile, scores): the exponentials are done; those of unseen tokens are next to 0
///   compute_results(tile, panel, to): weights × a panel of the values, to [rows, width]
template <class Products>
void attend_by(const Kernel& kernel, const AttentionHead& whole, Products& products,
               const Scores& scores) {
  AttentionHead head = whole;
  head.reach = std::min(head.reach, head.tokens);  // so that it can be added to
  const int64_t width = products.width();
  int64_t tiles = ceil_divide(head.queries, products.tile_rows());
  for (int64_t first = 0, rows = 0; first < head.queries; first += rows, --tiles) {
    const int64_t left = head.queries - first;
    rows = std::min(filled_up(ceil_divide(left, tiles), products.row_step()), left);
    const QueryTile tile{.first = first,
                         .rows = rows,
                         .start = std::max<int64_t>(0, first - head.reach) / width * width,
                         .end = std::min(first + rows + head.reach, head.tokens)};
    products.compute_scores(tile, scores);
    finish_scores(head, tile, width, scores);
    float sums[kMostTileRows];
    kernel.exponentials(scores.values, rows, scores.stride, tile.filled(width), sums);
    products.take_weights(tile, scores);
    compute_results(head, tile, products, sums);
  }
}

}  // namespace gemm
