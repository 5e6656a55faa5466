// Memory layout of the attention of one head.
#pragma once

#include <algorithm>
#include <cstdint>

#include "attention/int8_kernel.h"
#include "elementwise/elementwise.h"
#include "kernels/attention.h"
#include "matmul/kernel.h"
#include "matmul/tiling.h"

namespace kernels {

/// Layout of queries and keys as operands of a kernel.
struct KeyLayout {
  KeyLayout(const FormatKernel& by, int64_t head_size)
      : is_int8(by.kernel->int8_attention != nullptr),
        needs_packing(by.kernel->pack_a != nullptr),
        nr(by.kernel->nr),
        inputs(round_up(head_size, by.kernel->kr)),
        query_stride(needs_packing ? inputs : head_size) {}

  bool is_int8;
  bool needs_packing;  ///< the kernel multiplies another format than float32
  int64_t nr;          ///< columns of a panel
  int64_t inputs;      ///< head size, rounded up to a multiple of kr
  int64_t query_stride;
};

/// Layout of the scratch memory of one call. Sizes are in values of the kernel's format.
struct HeadLayout : KeyLayout {
  HeadLayout(const FormatKernel& by, const AttentionHead& head)
      : KeyLayout(by, head.head_size),
        block(is_int8 ? kBlockTokens : nr),
        tokens(round_up(head.tokens, block)),
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
      queries = allocate(mr * query_stride);
      weights = allocate(mr * tokens);
    }
    if (needs_packing && !is_int8) {
      stored = allocate_floats(std::max(tokens * head.head_size, head_panels * nr * head.tokens));
    }
    scores = allocate_floats(mr * tokens);
    keys = allocate(tokens * inputs);
    values = allocate(head_panels * nr * value_inputs);
    if (is_int8) {
      constexpr int64_t kScaleFloats = sizeof(RowScale) / sizeof(float);
      mean = allocate_floats(head.head_size);
      key_scales = allocate_floats(tokens);
      key_sums = allocate_floats(tokens);
      value_scales = allocate_floats(head_panels * nr);
      query_scales = allocate_floats(mr * kScaleFloats);
      weight_scales = allocate_floats(tokens / block * kMaxMr * kScaleFloats);
    }
    if (head.positions == nullptr) return;
    // Partial panels on both sides, and one vector that is read beyond the end.
    const auto rows = static_cast<int64_t>(head.positions->index().table_rows().size());
    by_row_stride = round_up(std::min(rows, 2 * tokens) + 3 * nr, nr);
    by_row = allocate_floats(mr * by_row_stride);
    by_offset = allocate_floats(kRingRows * tokens);
    position_rows = allocate(mr * query_stride);
    if (!is_int8) return;
    position_scales = allocate_floats(mr * static_cast<int64_t>(sizeof(RowScale) / sizeof(float)));
    mean_products = allocate_floats(round_up(rows, nr));
  }

  int64_t block;         ///< scores are computed for a multiple of so many tokens
  int64_t tokens;        ///< rounded up to whole blocks
  int64_t value_inputs;  ///< tokens; rounded up like `tokens` if needs_packing
  int64_t head_panels;   ///< panels of values
  int64_t mr;            ///< rows of a tile
  int64_t by_row_stride = 0;
  // Offsets of the regions in floats, each aligned to a cache line:
  int64_t stored = 0;   ///< float32 keys, then values, before rounding; not for int8
  int64_t queries = 0;  ///< [mr, query_stride], if needs_packing
  int64_t weights = 0;  ///< [mr, tokens], if needs_packing
  int64_t scores;       ///< [mr, tokens]
  int64_t keys;         ///< [panels of tokens, inputs, nr]
  int64_t values;       ///< [panels of head_size, value_inputs, nr]
  // int8 only:
  int64_t mean = 0;           ///< [head_size]: mean of the keys
  int64_t key_scales = 0;     ///< [tokens]
  int64_t key_sums = 0;       ///< [tokens], int32: see Int8Keys::first_sums
  int64_t value_scales = 0;   ///< [head_panels × nr]
  int64_t query_scales = 0;   ///< [mr] of RowScale
  int64_t weight_scales = 0;  ///< [blocks, kMaxMr] of RowScale
  // Only with relative positions:
  int64_t by_row = 0;           ///< [mr, by_row_stride]
  int64_t by_offset = 0;        ///< [panels of tokens, kRingRows, nr]
  int64_t position_rows = 0;    ///< [mr, query_stride]
  int64_t position_scales = 0;  ///< [mr] of RowScale; int8 only
  int64_t mean_products = 0;    ///< [rows of the positions]; int8 only
  int64_t size = 0;             ///< total size in floats
};

}  // namespace kernels
