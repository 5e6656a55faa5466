// LoRA factors of layers, from the tensors of an adapter or of several tasks.
#include <ATen/TensorOperators.h>

#include <string>

#include "checkpoint/weights.h"

namespace backend {
namespace {

constexpr std::string_view kDownOfTasks = "parametrizations.weight.0.lora_A";
constexpr std::string_view kUpOfTasks = "parametrizations.weight.0.lora_B";

}  // namespace

std::vector<LoraFactors> Weights::lora_factors(int64_t in_features, int64_t out_features) const {
  std::vector<LoraFactors> all;
  if (auto one = read_factors({.down = "lora_A.weight",
                               .up = "lora_B.weight",
                               .in = in_features,
                               .out = out_features})) {
    all.push_back(std::move(*one));
  }
  const TaskAdapters* const adapters = task_adapters_of_layer();
  if (adapters == nullptr) return all;
  const at::Tensor down = get(kDownOfTasks, {adapters->tasks, adapters->rank, in_features});
  const at::Tensor up =
      get(kUpOfTasks, {adapters->tasks, out_features, adapters->rank}) * adapters->scale;
  for (int64_t task = 0; task < adapters->tasks; ++task) {
    all.push_back({.down = down.select(0, task), .up = up.select(0, task), .task = task});
  }
  return all;
}

std::vector<LoraFactors> Weights::lora_embedding_factors(int64_t rows, int64_t size) const {
  std::vector<LoraFactors> all;
  if (auto one = read_factors(
          {.down = "lora_embedding_A", .up = "lora_embedding_B", .in = rows, .out = size})) {
    one->down = one->down.t().contiguous();
    all.push_back(std::move(*one));
  }
  const TaskAdapters* const adapters = task_adapters_of_layer();
  if (adapters == nullptr) return all;
  const at::Tensor down = get_as_stored(kDownOfTasks, {adapters->tasks, rows, adapters->rank});
  const at::Tensor up = get(kUpOfTasks, {adapters->tasks, adapters->rank, size}) * adapters->scale;
  for (int64_t task = 0; task < adapters->tasks; ++task) {
    all.push_back(
        {.down = down.select(0, task), .up = up.select(0, task).t().contiguous(), .task = task});
  }
  return all;
}

/// Null if the layer has no factors of tasks. A missing factor of two is reported like any missing
/// tensor.
const TaskAdapters* Weights::task_adapters_of_layer() const {
  const auto& adapters = checkpoint_->task_adapters();
  return adapters && (has(kDownOfTasks) || has(kUpOfTasks)) ? &*adapters : nullptr;
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
