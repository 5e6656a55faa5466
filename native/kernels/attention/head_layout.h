// Memory layout of the attention of one head.
#pragma once

#include <algorithm>
#include <cstdint>

#include "elementwise/elementwise.h"
#include "kernels/attention.h"
#include "matmul/kernel.h"
#include "matmul/tiling.h"

namespace kernels {

/// Layout of queries and keys as operands of a kernel.
struct KeyLayout {
  KeyLayout(const FormatKernel& by, int64_t head_size)
      : needs_packing(by.kernel->pack_a != nullptr),
        nr(by.kernel->nr),
        inputs(round_up(head_size, by.kernel->kr)),
        query_stride(needs_packing ? inputs : head_size) {}

  bool needs_packing;  ///< the kernel multiplies a 16-bit format instead of float32
  int64_t nr;          ///< columns of a panel
  int64_t inputs;      ///< head size, rounded up to a multiple of kr
  int64_t query_stride;
};

/// Layout of the scratch memory of one call. Sizes are in values of the kernel's format.
struct HeadLayout : KeyLayout {
  HeadLayout(const FormatKernel& by, const AttentionHead& head)
      : KeyLayout(by, head.head_size),
        tokens(round_up(head.tokens, nr)),
        value_inputs(needs_packing ? tokens : head.tokens),
        head_panels(ceil_divide(head.head_size, nr)),
        mr(by.kernel->mr) {
    const auto allocate_floats = [this](int64_t count) {
      const int64_t start = size;
      size += round_up(count, kLineFloats);
      return start;
    };
    const auto allocate = [&](int64_t count) {
      return allocate_floats(
          ceil_divide(count * by.kernel->value_bytes, static_cast<int64_t>(sizeof(float))));
    };
    if (needs_packing) {
      stored = allocate_floats(std::max(tokens * head.head_size, head_panels * nr * head.tokens));
      queries = allocate(mr * query_stride);
      weights = allocate(mr * tokens);
    }
    scores = allocate_floats(mr * tokens);
    keys = allocate(tokens * inputs);
    values = allocate(head_panels * nr * value_inputs);
    if (head.positions == nullptr) return;
    // Partial panels on both sides, and one vector that is read beyond the end.
    const auto rows = static_cast<int64_t>(head.positions->index().table_rows().size());
    by_row_stride = round_up(std::min(rows, 2 * tokens) + 3 * nr, nr);
    by_row = allocate_floats(mr * by_row_stride);
    by_offset = allocate_floats(kRingRows * tokens);
    position_rows = allocate(mr * query_stride);
  }

  int64_t tokens;        ///< rounded up to whole panels
  int64_t value_inputs;  ///< tokens; rounded up like `tokens` if needs_packing
  int64_t head_panels;   ///< panels of values
  int64_t mr;            ///< rows of a tile
  int64_t by_row_stride = 0;
  // Offsets of the regions in floats, each aligned to a cache line:
  int64_t stored = 0;   ///< float32 keys, then values, before rounding
  int64_t queries = 0;  ///< [mr, query_stride], if needs_packing
  int64_t weights = 0;  ///< [mr, tokens], if needs_packing
  int64_t scores;       ///< [mr, tokens]
  int64_t keys;         ///< [panels of tokens, inputs, nr]
  int64_t values;       ///< [panels of head_size, value_inputs, nr]
  // Only with relative positions:
  int64_t by_row = 0;         ///< [mr, by_row_stride]
  int64_t by_offset = 0;      ///< [panels of tokens, kRingRows, nr]
  int64_t position_rows = 0;  ///< [mr, query_stride]
  int64_t size = 0;           ///< total size in floats
};

}  // namespace kernels
