// LoRA factors of several tasks in one file. Each weight is parametrized: X.weight is
// X.parametrizations.weight.original, with the factors X.parametrizations.weight.0.lora_A and
// lora_B. Source: modeling_lora.py of jinaai/xlm-roberta-flash-implementation
// (LoRAParametrization).
#include <ATen/core/Tensor.h>
#include <c10/util/StringUtil.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "common/error.h"

namespace backend {
namespace {

constexpr std::string_view kOriginal = ".parametrizations.weight.original";
constexpr std::string_view kDown = ".parametrizations.weight.0.lora_A";
constexpr std::string_view kUp = ".parametrizations.weight.0.lora_B";

std::string without_end(const std::string& name, std::string_view end) {
  return name.substr(0, name.size() - end.size());
}

/// The factor of one task. Embedding tables are transposed: their update is A B.
at::Tensor factor_of(const at::Tensor& all, int64_t task, bool is_embedding) {
  const at::Tensor one = all.select(0, task);
  return is_embedding ? one.t().contiguous() : one;
}

void require_tasks(const std::string& name, const Checkpoint::Entry& entry, int64_t tasks) {
  const at::Tensor& tensor = entry.tensor;
  if (tensor.defined() && tensor.dim() == 3 && tensor.size(0) == tasks) return;
  throw common::LoadError(entry.file + ": " + name + ": expected a tensor of shape [" +
                          std::to_string(tasks) + ", …], as lora_adaptations in config.json says" +
                          (tensor.defined() ? ", found " + c10::str(tensor.sizes()) : ""));
}

}  // namespace

void Checkpoint::select_task(const TaskAdapters& adapters) {
  Entries selected;
  for (auto& [name, entry] : entries_) {
    if (name.ends_with(kOriginal)) {
      selected.insert_or_assign(without_end(name, kOriginal) + ".weight", std::move(entry));
      continue;
    }
    const bool is_down = name.ends_with(kDown);
    if (!is_down && !name.ends_with(kUp)) {
      selected.insert_or_assign(name, std::move(entry));
      continue;
    }
    require_tasks(name, entry, adapters.tasks);
    if (!adapters.selected) continue;
    const std::string module = without_end(name, is_down ? kDown : kUp);
    const bool is_embedding = module.ends_with("_embeddings");
    entry.tensor = factor_of(entry.tensor, *adapters.selected, is_embedding);
    const std::string factor = is_embedding ? (is_down ? ".lora_embedding_A" : ".lora_embedding_B")
                                            : (is_down ? ".lora_A.weight" : ".lora_B.weight");
    selected.insert_or_assign(module + factor, std::move(entry));
    lora_layers_[module] = {.rank = adapters.rank, .scale = adapters.scale};
  }
  entries_ = std::move(selected);
}

}  // namespace backend
