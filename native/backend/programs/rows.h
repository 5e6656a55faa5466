// Grouping of a batch into the input tensors of a program.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backend/model_input.h"

namespace backend {

/// Texts that may share a run. Shorter texts are padded. Windows always have equal lengths.
enum class Batching { kEqualLengths, kCloseLengths, kAnyLengths };

struct RowGroupLimits {
  Batching batching = Batching::kEqualLengths;
  size_t max_rows = std::numeric_limits<size_t>::max();
  size_t min_rows = 1;    ///< smaller groups are filled with copies of the last row
  size_t min_length = 0;  ///< tokens; shorter texts are padded
};

/// A group: the sequences of one run.
struct RowGroup {
  std::vector<size_t> indices;  ///< indices in the batch
  size_t length = 0;            ///< tokens of each row
  size_t count = 0;             ///< rows, including copies of the last one

  /// The sequence of a row.
  const Sequence& row(Batch batch, size_t index) const {
    return *batch[indices[std::min(index, indices.size() - 1)]];
  }
};

/// Assigns each sequence of the batch to a group, short sequences first.
std::vector<RowGroup> group_rows(Batch batch, const RowGroupLimits& limits);

/// Splits the groups into at least `parts` groups, as far as the limits permit. The groups of a
/// split group have equal numbers of rows or differ by one.
std::vector<RowGroup> split_groups(std::vector<RowGroup> groups, const RowGroupLimits& limits,
                                   size_t parts);

/// Input tensor, int64 [count, length]: the vector `of` of each sequence, padded with `padding`.
at::Tensor padded(const RowGroup& rows, Batch batch, std::vector<int64_t> Sequence::* of,
                  int64_t padding);

/// Attention mask, int64 [count, length]: 1 for tokens, 0 for padding.
at::Tensor attention_mask_of(const RowGroup& rows, Batch batch);

}  // namespace backend
