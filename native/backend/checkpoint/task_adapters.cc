// LoRA factors of several tasks in one file. Each weight is parametrized: X.weight is
// X.parametrizations.weight.original, with the factors X.parametrizations.weight.0.lora_A and
// lora_B of all tasks. Source: modeling_lora.py of jinaai/xlm-roberta-flash-implementation
// (LoRAParametrization).
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/checkpoint.h"

namespace backend {

void Checkpoint::set_task_adapters(const TaskAdapters& adapters) {
  constexpr std::string_view kOriginal = ".parametrizations.weight.original";
  task_adapters_ = adapters;
  Entries renamed;
  for (auto& [name, entry] : entries_) {
    const bool is_weight = name.ends_with(kOriginal);
    renamed.insert_or_assign(
        is_weight ? name.substr(0, name.size() - kOriginal.size()) + ".weight" : name,
        std::move(entry));
  }
  entries_ = std::move(renamed);
}

}  // namespace backend
