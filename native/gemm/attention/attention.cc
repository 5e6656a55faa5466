#include "gemm/attention.h"

#include <algorithm>
#include <limits>

#include "attention/head_attention.h"
#include "attention/head_products.h"

namespace gemm {
namespace {

/// Below, laying out keys and values in other numbers takes as long as their products gain or
/// longer (bench/products.cc, on a Zen 4).
constexpr int64_t kFewQueries = 16;

/// To the end of a panel: what is added to the scores, and −∞ for what a query does not see.
void finish_scores(const AttentionHead& head, const QueryTile& tile, int64_t width,
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
void compute_results(const AttentionHead& head, const QueryTile& tile, int64_t width,
                     const HeadProducts& products, const float* sums) {
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

/// Panels of keys and values are laid out by the one and read by the other.
bool fits(const FormatKernel& by) { return 2 * best_elementwise().lanes == by.kernel->panel_width; }

HeadAttention best_attention(Format format) {
  const FormatDescription& wanted = description_of(format);
  if (!wanted.attends) return best_attention(Format::kFloat32);
  const FormatKernel best(format);
  if (fits(best)) return {best_elementwise(), best};
  return {kElementwisePortable, {wanted, *wanted.kernels.back()}};
}

}  // namespace

bool attends_fast(Format format) {
  return description_of(format).attends && is_fast(format) && fits(format);
}

int64_t attention_scratch(Format format, int64_t tokens, int64_t head_size) {
  return std::max(best_attention(Format::kFloat32).scratch(tokens, head_size),
                  best_attention(format).scratch(tokens, head_size));
}

void attend(Format format, const AttentionHead& head, float* scratch) {
  best_attention(head.queries < kFewQueries ? Format::kFloat32 : format).attend(head, scratch);
}

int64_t HeadAttention::scratch(int64_t tokens, int64_t head_size) const {
  return HeadLayout(by_, tokens, head_size).size;
}

void HeadAttention::attend(const AttentionHead& whole, float* scratch) const {
  const Kernel& kernel = *by_.kernel;
  const HeadLayout layout(by_, whole.tokens, whole.head_size);
  HeadProducts products(*elementwise_, by_, layout, whole, scratch);
  AttentionHead head = whole;
  head.reach = std::min(head.reach, head.tokens);  // so that it can be added to
  if (kernel.begin != nullptr) kernel.begin(head.queries);
  const int64_t width = layout.width;
  int64_t tiles = ceil_divide(head.queries, layout.rows);
  for (int64_t first = 0, rows = 0; first < head.queries; first += rows, --tiles) {
    const int64_t left = head.queries - first;
    rows = std::min(filled_up(ceil_divide(left, tiles), kernel.row_step), left);
    const QueryTile tile{.first = first,
                         .rows = rows,
                         .start = std::max<int64_t>(0, first - head.reach) / width * width,
                         .end = std::min(first + rows + head.reach, head.tokens)};
    const Scores scores = products.scores();
    products.compute_scores(tile);
    finish_scores(head, tile, width, scores);
    float sums[kMostTileRows];
    elementwise_->exponentials(scores.values, rows, scores.stride, tile.filled(width), sums);
    products.take_weights(tile);
    compute_results(head, tile, width, products, sums);
  }
  if (kernel.end != nullptr) kernel.end();
}

}  // namespace gemm
