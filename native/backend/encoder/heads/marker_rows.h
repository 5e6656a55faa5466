#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "backend/model_input.h"
#include "text/packed_batch.h"

namespace backend::heads {

/// Rows of the markers of all sequences, in packed order.
struct MarkerRows {
  std::vector<int64_t> rows;    ///< [markers], row in the tensors of the batch
  std::vector<int64_t> counts;  ///< [sequences], number of markers
};

MarkerRows marker_rows(const nn::PackedBatch& packed, Batch sequences);

/// Selects rows. [tokens, columns] → [rows, columns]
at::Tensor gather_rows(const at::Tensor& values, std::vector<int64_t>& rows);

/// Divides rows among the sequences. values: [sum of counts, 1], in packed order. counts:
/// [sequences], in packed order. Outputs are in the order of the batch.
std::vector<scheduler::Output> split_rows(const at::Tensor& values,
                                          const std::vector<int64_t>& counts,
                                          const nn::PackedBatch& packed);

}  // namespace backend::heads
