// What one processor family brings to rows of float32 beside their products.
#pragma once

#include <cstdint>

#include "kernels/attention.h"
#include "kernels/instructions.h"
#include "kernels/layer_norm.h"
#include "kernels/linear.h"
#include "kernels/rotary.h"

namespace kernels {

/// At least the rows of a tile and the columns of a panel; a power of 2.
inline constexpr int64_t kOffsetsKept = 64;

/// What becomes of values [rows, columns], columns a multiple of lanes, and of what lies where they
/// go: `to_stride` floats from row to row. The places may be the same.
using EpilogueFunction = void (*)(const float* values, int64_t rows, int64_t columns, float* to,
                                  int64_t to_stride);

struct Elementwise {
  const char* name;
  Instructions needs;
  int lanes;  ///< of a vector
  EpilogueFunction gelu, add, multiply;
  /// Of each row of scores [rows, count] in place, stride floats from row to row, count a multiple
  /// of two vectors: e to the power of what a score lies below the row's highest. sums: [rows], of
  /// these.
  void (*exponentials)(float* scores, int64_t rows, int64_t stride, int64_t count, float* sums);
  /// A head's keys, times its scale, to [panels of tokens, head_size, width], and its values to
  /// [panels of the head, tokens, width]; filled up with zeros. A panel is two vectors wide.
  void (*pack_keys)(const AttentionHead& head, float* panels);
  void (*pack_values)(const AttentionHead& head, float* panels);
  /// scores[j] += by_row[rows[j]] for j < count, a multiple of a vector; rows grow by 0 or 1 from
  /// each to the next. A vector behind the last one is read, too.
  void (*add_by_row)(float* scores, const float* by_row, const int32_t* rows, int64_t count);
  /// scores[i, j] += ring[first − i + j, j] for i < rows and all columns of a panel: a ring of
  /// kOffsetsKept rows, a panel wide. stride: floats from row to row of the scores.
  void (*add_diagonals)(float* scores, int64_t stride, int64_t rows, const float* ring,
                        int64_t first);
  void (*normalize)(const LayerNormRows& rows);
  void (*rotate)(const RotatedHeads& heads);
};

extern const Elementwise kElementwisePortable;
#if defined(__x86_64__)
extern const Elementwise kElementwiseAvx2;
extern const Elementwise kElementwiseAvx512;
#endif

/// The fastest one that this processor runs.
const Elementwise& best_elementwise();

/// For panels of so many columns, which may be another processor's: the fastest whose vectors fit.
/// Null: values are stored as they are.
EpilogueFunction best_epilogue(Epilogue epilogue, int64_t panel_width);

}  // namespace kernels
