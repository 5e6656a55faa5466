// int8 attention: the functions of one instruction set. Queries and softmax numerators are unsigned
// 7-bit integers with a scale for each row. Keys and values are signed 8-bit integers with a scale
// for each token (keys) or each dimension (values). All sums are exact, and no operation is fused,
// so results are equal on all processors.
#pragma once

#include <cstdint>

#include "matmul/kernel.h"

namespace kernels {

/// Number of tokens whose softmax numerators share a scale. Aligned blocks: the first starts at
/// token 0. With one scale for all tokens, the small weights of a long text would round to 0.
inline constexpr int64_t kBlockTokens = 64;

/// Zero point of queries, whose integers are from 1 to 127.
inline constexpr int kQueryZeroPoint = 64;

/// Keys, or key position vectors: vectors of a panel's columns.
struct Int8Keys {
  const float* from;  ///< [count, head_size]
  int64_t stride, count, head_size;
  float scale;          ///< of the products of queries and keys
  const float* mean;    ///< [head_size], is subtracted from every key; null: nothing is
  int64_t inputs;       ///< head_size, rounded up with zeros
  int8_t* to;           ///< [panels, inputs / 4, nr, 4]
  float* scales;        ///< [panels × nr], with the factor `scale`
  int32_t* first_sums;  ///< [panels × nr]: −kQueryZeroPoint × sum of the integers
};

struct Int8Values {
  const float* from;  ///< [tokens, head_size]
  int64_t stride, tokens, head_size;
  int64_t padded;  ///< tokens, rounded up with zeros to a multiple of kBlockTokens
  int8_t* to;      ///< [panels, padded / 4, nr, 4]
  float* scales;   ///< [panels × nr]
};

/// Softmax numerators of the scores [rows, count].
struct Int8Exponentials {
  const float* scores;
  int64_t stride, rows;
  int64_t count;  ///< a multiple of kBlockTokens; masked scores are −∞
  uint8_t* to;    ///< [rows, count], row stride to_stride
  int64_t to_stride;
  RowScale* scales;    ///< [count / kBlockTokens, kMaxMr]
  const float* sinks;  ///< [rows], a further score of each row, for the sums only; null: none
  float* sums;         ///< [rows], sums of the scaled integers
};

struct Int8Attention {
  /// [mr]: functions for 1, 2, … rows. Sums start at Tile::weight_sums. c is sum × row scale ×
  /// scale + bias, or is added to c if Tile::accumulates.
  const TileFunction* tiles;
  /// Quantizes queries, or query position vectors, with kQueryZeroPoint.
  void (*pack_queries)(const RowsToPack& rows);
  /// mean: [size], mean of the rows [count, size].
  void (*mean_of_rows)(const float* rows, int64_t stride, int64_t count, int64_t size, float* mean);
  /// products: [count], products of the rows [count, size] with a vector.
  void (*multiply_rows)(const float* rows, int64_t count, int64_t size, const float* vector,
                        float* products);
  void (*pack_keys)(const Int8Keys& keys);
  void (*pack_values)(const Int8Values& values);
  void (*pack_exponentials)(const Int8Exponentials& exponentials);
};

extern const Int8Attention kInt8AttentionPortable;
#if defined(__x86_64__)
extern const Int8Attention kInt8AttentionAvx2, kInt8AttentionAvx512;
#endif

}  // namespace kernels
