// Packing of a head's keys and values into panels, like the weights of a linear layer. Included by
// files that are compiled for different instruction sets, see matmul/tile.h.
#pragma once

#include "cpu/reduce.h"
#include "kernels/attention.h"

namespace kernels {
namespace {

/// Transposes the keys of kLanes tokens from [tokens, head_size] to [head_size, nr]. Tokens from
/// `count` on are zero.
template <class Simd>
void pack_keys_of_tokens(const AttentionHead& head, const float* keys, int64_t count, float* to) {
  constexpr int kLanes = Simd::kLanes;
  constexpr int64_t kWidth = int64_t{2} * kLanes;
  int64_t i = 0;
  for (; i + kLanes <= head.head_size; i += kLanes) {
    typename Simd::Vector rows[kLanes];
#pragma GCC unroll 16
    for (int token = 0; token < kLanes; ++token) {
      rows[token] = typename Simd::Vector{};
      if (token < count) {
        rows[token] = Simd::load(keys + token * head.key_value_stride + i) * head.scale;
      }
    }
    transpose(rows);
#pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane, to += kWidth) Simd::store(to, rows[lane]);
  }
  for (; i < head.head_size; ++i, to += kWidth) {
    for (int64_t token = 0; token < kLanes; ++token) {
      to[token] = token < count ? keys[token * head.key_value_stride + i] * head.scale : 0;
    }
  }
}

/// See Elementwise::pack_keys.
template <class Simd>
void pack_keys(const AttentionHead& head, float* panels) {
  constexpr int64_t kLanes = Simd::kLanes;
  for (int64_t token = 0; token < head.tokens; token += 2 * kLanes) {
    for (int64_t half = 0; half < 2; ++half) {
      const int64_t first = token + half * kLanes;
      pack_keys_of_tokens<Simd>(head, head.key + first * head.key_value_stride, head.tokens - first,
                                panels + half * kLanes);
    }
    panels += 2 * kLanes * head.head_size;
  }
}

/// See Elementwise::pack_values.
template <class Simd>
void pack_values(const AttentionHead& head, float* panels) {
  constexpr int64_t kLanes = Simd::kLanes;
  constexpr int64_t kWidth = 2 * kLanes;
  for (int64_t first = 0; first < head.head_size; first += kWidth) {
    const int64_t count = head.head_size - first;
    const float* values = head.value + first;
    for (int64_t token = 0; token < head.tokens; ++token, panels += kWidth) {
      if (count >= kWidth) {
        Simd::store(panels, Simd::load(values));
        Simd::store(panels + kLanes, Simd::load(values + kLanes));
      } else {
        for (int64_t i = 0; i < kWidth; ++i) panels[i] = i < count ? values[i] : 0;
      }
      values += head.key_value_stride;
    }
  }
}

}  // namespace
}  // namespace kernels
