#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "checkpoint/weights.h"
#include "packed/linear.h"

namespace backend::nn {

/// LoRA updates of a linear layer, in float32 for every compute type: the base layer stays as it
/// is, so that all adapters of a base, and all tasks of a model, share it. The result of a row does
/// not depend on the other rows. Source: peft, tuners/lora/layer.py (Linear).
class LoraUpdate {
 public:
  /// Factors for consecutive outputs of the layer.
  struct Part {
    int64_t outputs;
    std::vector<LoraFactors> factors;  ///< empty: no update of these outputs
  };

  /// Null if no part has factors. All parts have the same input.
  static std::shared_ptr<const LoraUpdate> make(std::span<const Part> parts);

  /// Adds the update of x, float32 [rows, in], to y, contiguous float32 [rows, count]: outputs
  /// first … first + count - 1 of the layer. ScopedTasks specifies the task of each row.
  void add_to(const at::Tensor& y, const at::Tensor& x, int64_t first) const;

 private:
  /// Update of some consecutive outputs.
  struct Block {
    std::optional<int64_t> task;  ///< rows that it applies to; empty: all rows
    int64_t first_output;
    int64_t first_rank;  ///< row of the concatenated down factors
    PackedLinear up;
  };

  LoraUpdate(PackedLinear down, std::vector<Block> blocks);

  /// Adds the blocks of this task, or those of all rows.
  void add_blocks(std::optional<int64_t> task, const at::Tensor& y, const at::Tensor& x,
                  int64_t first) const;

  PackedLinear down_;  ///< down factors of all blocks, concatenated
  std::vector<Block> blocks_;
  bool has_tasks_;
};

}  // namespace backend::nn
