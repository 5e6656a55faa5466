// Texts or windows of a batch as the rows of a program's inputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "backend/model_input.h"

namespace backend {

/// Which texts share a run. Those that are shorter than another one of it are padded. Windows are
/// of equal lengths.
enum class Batching { kEqualLengths, kCloseLengths, kAnyLengths };

struct RowLimits {
  Batching batching = Batching::kEqualLengths;
  size_t most_rows = std::numeric_limits<size_t>::max();
  size_t least_rows = 1;    ///< fewer are filled up with copies of the last one
  size_t least_length = 0;  ///< of texts: shorter ones are padded
};

/// Those of one run.
struct Rows {
  std::vector<size_t> places;  ///< in the batch
  size_t length = 0;           ///< tokens of each row
  size_t count = 0;            ///< rows, copies of the last one among them

  /// What is in a row of the run.
  const Sequence& row(Batch batch, size_t index) const {
    return *batch[places[std::min(index, places.size() - 1)]];
  }
};

/// Every one of a batch once, the short ones first.
std::vector<Rows> rows_of(Batch batch, const RowLimits& limits);

/// What the rows hold of one thing, int64 [count, length]: `of` names the vector of a text, after
/// which there is `padding`.
at::Tensor filled(const Rows& rows, Batch batch,
                  std::vector<int64_t> Sequence::* of, int64_t padding);

/// 1 where there is a token, 0 where there is padding; int64 [count, length].
at::Tensor mask_of(const Rows& rows, Batch batch);

}  // namespace backend
