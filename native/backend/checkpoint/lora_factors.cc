// LoRA factors of layers, from the tensors of an adapter.
#include <ATen/TensorOperators.h>

#include <string>

#include "checkpoint/weights.h"

namespace backend {

std::optional<LoraFactors> Weights::lora_factors(int64_t in_features, int64_t out_features) const {
  return read_factors(
      {.down = "lora_A.weight", .up = "lora_B.weight", .in = in_features, .out = out_features});
}

std::optional<LoraFactors> Weights::lora_embedding_factors(int64_t rows, int64_t size) const {
  return read_factors(
      {.down = "lora_embedding_A", .up = "lora_embedding_B", .in = rows, .out = size});
}

/// A missing factor of two is reported like any missing tensor.
std::optional<LoraFactors> Weights::read_factors(const LoraShape& shape) const {
  const auto* const down = find(full_name(shape.down));
  const auto* const up = find(full_name(shape.up));
  if (down == nullptr && up == nullptr) return std::nullopt;
  const std::string& key = (down != nullptr ? down : up)->first;
  const size_t suffix = (down != nullptr ? shape.down : shape.up).size() + 1;
  const auto* const layer = checkpoint_->lora_layer(key.substr(0, key.size() - suffix));
  if (layer == nullptr) return std::nullopt;  // require_all_used() reports the factors
  return LoraFactors{.down = get(shape.down, {layer->rank, shape.in}),
                     .up = get(shape.up, {shape.out, layer->rank}) * layer->scale};
}

}  // namespace backend
