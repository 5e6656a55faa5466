// Float32 functions other than matrix multiplication, for one instruction set.
#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/cpu.h"
#include "kernels/elementwise.h"
#include "kernels/matmul.h"

namespace kernels {

/// Rows of a ring buffer of position scores: a power of 2, at least kMaxMr + kMaxNr.
inline constexpr int64_t kRingRows = 64;

/// Combines values [rows, columns] with the previous content of `to` and stores the result there.
/// columns: a multiple of the vector size. to_stride: row stride in floats. `to` may equal
/// `values`.
using EpilogueFunction = void (*)(const float* values, int64_t rows, int64_t columns, float* to,
                                  int64_t to_stride);

struct Elementwise {
  const char* name;
  Instructions needs;
  int lanes;  ///< floats per vector
  EpilogueFunction gelu, gelu_tanh, silu, add, multiply, maximum;
  /// Replaces scores [rows, count] by exp(score − row maximum). stride: row stride in floats;
  /// count: a multiple of two vectors. sinks: [rows], a further score of each row, which counts in
  /// the maximum and in the sum; null: none. sums: [rows], the row sums.
  void (*exponentials)(float* scores, int64_t rows, int64_t stride, int64_t count,
                       const float* sinks, float* sums);
  /// Packs a head's keys, multiplied by its scale, into [panels of tokens, head_size, nr], and its
  /// values into [panels of head_size, tokens, nr], zero-padded. nr is the size of two vectors.
  void (*pack_keys)(const AttentionHead& head, float* panels);
  void (*pack_values)(const AttentionHead& head, float* panels);
  /// scores[j] += by_row[rows[j]] for j < count. count: a multiple of the vector size. rows[j + 1]
  /// is rows[j] or rows[j] + 1. Reads one vector beyond the last element of by_row that is used.
  void (*add_by_index)(float* scores, const float* by_row, const int32_t* rows, int64_t count);
  /// scores[i, j] += ring[(first − i + j) mod kRingRows, j] for i < rows, j < nr. stride: row
  /// stride of the scores in floats.
  void (*add_skewed)(float* scores, int64_t stride, int64_t rows, const float* ring, int64_t first);
  void (*normalize)(const LayerNormRows& rows);
  void (*normalize_rms)(const RmsNormRows& rows);
  void (*rotate)(const RotatedHeads& heads);
};

extern const Elementwise kElementwisePortable;
#if defined(__x86_64__)
extern const Elementwise kElementwiseAvx2;
extern const Elementwise kElementwiseAvx512;
#endif

/// The fastest functions that this processor supports.
const Elementwise& best_elementwise();

/// The functions of this processor for panels of nr columns, which are two vectors wide; null if
/// there are none.
const Elementwise* elementwise_for_panels(int64_t nr);

/// The fastest epilogue whose vectors divide a panel of nr columns; null for Epilogue::kStore.
EpilogueFunction best_epilogue(Epilogue epilogue, int64_t nr);

}  // namespace kernels
