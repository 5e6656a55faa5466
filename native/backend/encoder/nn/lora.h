#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <vector>

#include "checkpoint/weights.h"
#include "packed/linear.h"

namespace backend::nn {

/// LoRA update of a linear layer, in float32 for every compute type: the base layer stays as it is,
/// so that all adapters of a base share it. The result of a row does not depend on the other rows.
/// Source: peft, tuners/lora/layer.py (Linear).
class LoraUpdate {
 public:
  /// Factors for consecutive outputs of the layer.
  struct Part {
    int64_t outputs;
    std::optional<LoraFactors> factors;  ///< empty: no update of these outputs
  };

  /// Null if no part has factors. All parts have the same input.
  static std::shared_ptr<const LoraUpdate> make(std::span<const Part> parts);

  /// Adds the update of x, float32 [rows, in], to y, contiguous float32 [rows, count]: outputs
  /// first … first + count - 1 of the layer.
  void add_to(const at::Tensor& y, const at::Tensor& x, int64_t first) const;

 private:
  /// Update of some consecutive outputs.
  struct Block {
    int64_t first_output;
    int64_t first_rank;  ///< row of the concatenated down factors
    PackedLinear up;
  };

  LoraUpdate(PackedLinear down, std::vector<Block> blocks)
      : down_(std::move(down)), blocks_(std::move(blocks)) {}

  PackedLinear down_;  ///< down factors of all blocks, concatenated
  std::vector<Block> blocks_;
};

}  // namespace backend::nn
