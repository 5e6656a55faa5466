// How attention over one head uses its memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "elementwise/elementwise.h"
#include "format/kernel.h"
#include "kernels/attention.h"
#include "linear/tiling.h"

namespace kernels {

/// A head's numbers as they are multiplied: rows of queries, and panels of keys.
struct KeyLayout {
  KeyLayout(const FormatKernel& by, int64_t head_size)
      : is_rounded(by.kernel->round_rows != nullptr),
        width(by.kernel->panel_width),
        inputs(filled_up(head_size, by.kernel->inputs_together)),
        query_stride(is_rounded ? inputs : head_size) {}

  bool is_rounded;  ///< numbers are not multiplied as they are
  int64_t width;    ///< of a panel
  int64_t inputs;   ///< the size of a head, filled up to steps of a product
  int64_t query_stride;
};

/// How one call uses its memory. Sizes are numbers as they are multiplied.
struct HeadLayout : KeyLayout {
  HeadLayout(const FormatKernel& by, const AttentionHead& head)
      : KeyLayout(by, head.head_size),
        tokens(filled_up(head.tokens, width)),
        value_inputs(is_rounded ? tokens : head.tokens),
        head_panels(ceil_divide(head.head_size, width)),
        rows(by.kernel->tile_rows) {
    const auto take_floats = [this](int64_t count) {
      const int64_t start = size;
      size += filled_up(count, kLineFloats);
      return start;
    };
    const auto take = [&](int64_t count) {
      return take_floats(
          ceil_divide(count * by.kernel->value_bytes, static_cast<int64_t>(sizeof(float))));
    };
    if (is_rounded) {
      stored = take_floats(std::max(tokens * head.head_size, head_panels * width * head.tokens));
      queries = take(rows * query_stride);
      weights = take(rows * tokens);
    }
    scores = take_floats(rows * tokens);
    keys = take(tokens * inputs);
    values = take(head_panels * width * value_inputs);
    if (head.positions == nullptr) return;
    // Panels that are begun and not ended on both sides, and a vector that is read behind them.
    const auto most = static_cast<int64_t>(head.positions->offsets().table_rows().size());
    by_row_stride = filled_up(std::min(most, 2 * tokens) + 3 * width, width);
    by_row = take_floats(rows * by_row_stride);
    by_offset = take_floats(kOffsetsKept * tokens);
    position_rows = take(rows * query_stride);
  }

  int64_t tokens;        ///< filled up to whole panels, and so to steps of a product
  int64_t value_inputs;  ///< the tokens, filled up where numbers are rounded
  int64_t head_panels;   ///< of its values
  int64_t rows;          ///< of a tile
  int64_t by_row_stride = 0;
  // Where they begin, in floats, each with a cache line:
  int64_t stored = 0;   ///< keys, then values, before they are rounded
  int64_t queries = 0;  ///< [rows, query_stride], where numbers are rounded
  int64_t weights = 0;  ///< [rows, tokens], the same
  int64_t scores;       ///< [rows, tokens]
  int64_t keys;         ///< [panels of tokens, inputs, width]
  int64_t values;       ///< [panels of the head, value_inputs, width]
  // Of a head with positions:
  int64_t by_row = 0;         ///< [rows, by_row_stride]
  int64_t by_offset = 0;      ///< [panels of tokens, kOffsetsKept, width]
  int64_t position_rows = 0;  ///< [rows, query_stride]
  int64_t size = 0;           ///< of all
};

}  // namespace kernels
