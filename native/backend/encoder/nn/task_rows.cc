#include "encoder/nn/task_rows.h"

#include <stdexcept>

namespace backend::nn {

std::vector<TaskRows> ScopedTasks::rows_of(int64_t rows) {
  std::vector<TaskRows> result;
  if (batch_ == nullptr) return result;
  const PackedBatch& batch = *batch_;
  const bool is_by_token = rows == batch.tokens();
  if (!is_by_token && rows != batch.sequences()) {
    throw std::logic_error("a layer with LoRA updates of tasks has other rows than the batch");
  }
  for (const auto& [task, first, sequences] : batch.tasks) {
    const auto row_of = [&](int64_t sequence) {
      return is_by_token ? batch.cu_seqlens[static_cast<size_t>(sequence)] : sequence;
    };
    result.push_back({task, row_of(first), row_of(first + sequences) - row_of(first)});
  }
  return result;
}

}  // namespace backend::nn
