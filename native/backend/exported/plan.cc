#include "exported/plan.h"

#include <ranges>

namespace backend {
namespace {

void mark(std::vector<Operand>& operands, std::vector<bool>& is_used) {
  for (Operand& operand : std::views::reverse(operands)) {
    mark(operand.items, is_used);
    if (operand.from != Operand::From::kSlot || is_used[operand.slot]) continue;
    is_used[operand.slot] = true;
    operand.is_last_use = true;
  }
}

}  // namespace

void mark_last_uses(Plan& plan) {
  std::vector<bool> is_used(plan.slots);
  mark(plan.outputs, is_used);
  for (Step& step : std::views::reverse(plan.steps)) {
    for (Result& result : step.results) {
      for (auto& slot : result.slots) {
        if (slot && !is_used[*slot]) slot.reset();
      }
    }
    mark(step.operands, is_used);
  }
}

void SharedMemory::add(const at::Tensor& tensor) {
  if (!tensor.has_storage()) return;
  storages_.emplace(tensor.storage().unsafeGetStorageImpl(), tensor.storage());
}

bool SharedMemory::contains(const at::Tensor& tensor) const {
  return tensor.has_storage() && storages_.contains(tensor.storage().unsafeGetStorageImpl());
}

void SharedMemory::forget_unused() {
  std::erase_if(storages_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

}  // namespace backend
