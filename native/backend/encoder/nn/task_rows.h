#pragma once

#include <cstdint>
#include <vector>

#include "text/packed_batch.h"

namespace backend::nn {

/// Consecutive rows of a layer's input whose sequences have the same task.
struct TaskRows {
  int64_t task;
  int64_t first;
  int64_t count;
};

/// The batch that this thread runs, for LoRA updates of tasks. A thread-local value: the interfaces
/// of layers and encoders transport rows, and no other layer depends on tasks.
class ScopedTasks {
 public:
  explicit ScopedTasks(const PackedBatch& batch) : previous_(batch_) { batch_ = &batch; }
  ~ScopedTasks() { batch_ = previous_; }
  ScopedTasks(const ScopedTasks&) = delete;
  ScopedTasks& operator=(const ScopedTasks&) = delete;

  /// Rows by task. rows: number of tokens or of sequences of the batch. Rows of sequences without a
  /// task are omitted. Throws std::logic_error for another number of rows.
  static std::vector<TaskRows> rows_of(int64_t rows);

 private:
  static inline thread_local constinit const PackedBatch* batch_ = nullptr;
  const PackedBatch* previous_;
};

}  // namespace backend::nn
