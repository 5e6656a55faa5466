// Both products of a head, in any number format: its keys and values lie as panels, like the
// weights of a linear layer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "elementwise/elementwise.h"
#include "format/kernel.h"
#include "gemm/attention.h"
#include "linear/tiling.h"

namespace gemm {

/// Of a cache line.
constexpr int64_t kLineFloats = 64 / sizeof(float);

/// Some queries, and the tokens that one of them or another sees.
struct QueryTile {
  int64_t first, rows;
  int64_t start;  ///< of a panel
  int64_t end;    ///< of the tokens

  /// Tokens to the end of a panel of so many.
  int64_t filled(int64_t width) const { return filled_up(end - start, width); }
};

/// Of a tile's queries: [rows, stride], of the tokens from its start on.
struct Scores {
  float* values;
  int64_t stride;
};

/// How one call uses its memory. Sizes are numbers as they are multiplied.
struct HeadLayout {
  HeadLayout(const FormatKernel& by, int64_t token_count, int64_t head_size);

  bool is_rounded;  ///< numbers are not multiplied as they are
  int64_t width;    ///< of a panel
  int64_t parts;
  int64_t tokens;         ///< filled up to whole panels, and so to steps of a product
  int64_t key_inputs;     ///< the size of a head, filled up to steps of a product
  int64_t value_inputs;   ///< the tokens, filled up where numbers are rounded
  int64_t head_panels;    ///< of its values
  int64_t query_stride;   ///< of one part, where numbers are rounded
  int64_t weight_stride;  ///< the same
  int64_t rows;           ///< of a tile
  // Where they begin, in floats, each with a cache line:
  int64_t stored = 0;  ///< keys, then values, before they are rounded
  int64_t scores;      ///< [rows, tokens]
  int64_t keys;        ///< [panels of tokens, parts, key_inputs, width]
  int64_t values;      ///< [panels of the head, parts, value_inputs, width]
  int64_t queries;     ///< [parts, rows, query_stride]
  int64_t weights;     ///< [parts, rows, weight_stride]
  int64_t size;        ///< of all
};

class HeadProducts {
 public:
  /// Lays out the keys and values of the head.
  HeadProducts(const Elementwise& elementwise, const FormatKernel& by, const HeadLayout& layout,
               const AttentionHead& head, float* memory);

  Scores scores() const { return {memory_ + layout_->scores, layout_->tokens}; }

  /// query keyᵀ, as scores().
  void compute_scores(const QueryTile& tile) const;

  /// The exponentials of scores() are done; those of unseen tokens are next to 0.
  void take_weights(const QueryTile& tile);

  /// weights × a panel of the values, to [rows, width].
  void compute_results(const QueryTile& tile, int64_t panel, float* to) const;

 private:
  /// Rows as they are multiplied: of the first part, with so many numbers to the next.
  struct Factor {
    const void* values;
    int64_t stride;
    int64_t part_size;
  };
  /// The same of a panel.
  struct Panel {
    const std::byte* values;
    int64_t inputs;
    int64_t part_size;
  };
  /// Rows of float32.
  struct Source {
    const float* values;
    int64_t stride, rows, count;
  };
  /// Where rounded rows go: filled up with zeros.
  struct Place {
    int64_t start, stride, filled;
  };

  std::byte* numbers(int64_t piece, int64_t index) const {
    return reinterpret_cast<std::byte*>(memory_ + piece) + index * kernel_->value_bytes;
  }
  void round_panels(int64_t inputs, int64_t filled, int64_t panels, int64_t piece) const;
  Factor rounded(const Source& source, const Place& place) const;
  Panel panel_at(int64_t piece, int64_t inputs, int64_t column) const;
  void multiply(int64_t rows, const Factor& a, const Panel& panel, const Scores& to) const;

  const Kernel* kernel_;
  const HeadLayout* layout_;
  const AttentionHead* head_;
  float* memory_;
  Factor weights_{};
};

}  // namespace gemm
