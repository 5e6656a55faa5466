#include <ATen/core/List.h>
#include <c10/util/Exception.h>

#include <stdexcept>

#include "programs/exported/operators.h"
#include "programs/exported/plan.h"
#include "programs/run_limit.h"
#include "runtime/runtime.h"
#include "scheduler/backend.h"

namespace backend {
namespace {

using c10::IValue;
using torch::jit::Stack;

class Run {
 public:
  Run(const Plan& plan, const SharedMemory& shared)
      : plan_(plan), shared_(shared), values_(plan.slots) {}

  std::vector<IValue> operator()(std::vector<IValue> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) values_[plan_.inputs[i]] = std::move(inputs[i]);
    for (const Step& step : plan_.steps) {
      check_run_limit();
      stack_.clear();
      try {
        for (const Operand& operand : step.operands) stack_.push_back(value_of(operand));
        require_writable(step);
        if (step.precondition != nullptr) step.precondition(stack_);
        std::visit([&](const auto& call) { make(call, step); }, step.call);
        keep_results(step);
      } catch (const c10::Error&) {
        throw std::runtime_error(step.name + ": " + message_of_current_exception());
      } catch (const scheduler::BackendError& error) {
        throw scheduler::BackendError(step.name + ": " + error.what());
      }
    }
    std::vector<IValue> outputs;
    outputs.reserve(plan_.outputs.size());
    for (const Operand& output : plan_.outputs) outputs.push_back(value_of(output));
    return outputs;
  }

 private:
  IValue value_of(const Operand& operand) {
    switch (operand.from) {
      case Operand::From::kConstant:
        return operand.constant;
      case Operand::From::kList:
        return list_of(operand);
      case Operand::From::kSlot:
        break;
    }
    IValue& slot = values_[operand.slot];
    IValue value = operand.is_last_use ? std::move(slot) : slot;
    if (value.isTensor() || operand.expected == nullptr) return value;
    return converted(std::move(value), *operand.expected);
  }

  IValue list_of(const Operand& operand) {
    std::vector<IValue> values;
    values.reserve(operand.items.size());
    for (const Operand& item : operand.items) values.push_back(value_of(item));
    return backend::list_of(std::move(values), *operand.expected);
  }

  /// Throws if the step would write to a weight: weights are mapped read-only, so a write would
  /// crash.
  void require_writable(const Step& step) const {
    for (const size_t index : step.written) {
      const IValue& value = stack_[index];
      if (value.isTensor()) require_writable(value.toTensor());
      if (!value.isTensorList()) continue;
      for (const at::Tensor& tensor : value.toTensorVector()) require_writable(tensor);
    }
  }

  void require_writable(const at::Tensor& tensor) const {
    if (!tensor.defined()) return;
    if (!tensor.has_storage() || shared_.contains(tensor)) {
      throw scheduler::BackendError("writes to a weight of the model");
    }
  }

  void make(const c10::OperatorHandle& op, const Step& step) {
    op.callBoxed(stack_);
    if (!step.zero_result) return;
    for (IValue& result : stack_) result.toTensor().zero_();
  }

  void make(SymbolicFunction function, const Step&) {
    IValue result = function(stack_);
    stack_.clear();
    stack_.push_back(std::move(result));
  }

  void make(const Layer& layer, const Step&) { stack_ = {layer(stack_.front().toTensor())}; }

  void make(std::monostate, const Step&) {}

  void make(const Cond& cond, const Step&) {
    const bool is_true = as_bool(stack_.front());
    std::vector<IValue> inputs(std::make_move_iterator(stack_.begin() + 1),
                               std::make_move_iterator(stack_.end()));
    stack_ = run_plan(is_true ? *cond.if_true : *cond.if_false, std::move(inputs), shared_);
  }

  void make(const WhileLoop& loop, const Step&) {
    const auto carried = static_cast<std::ptrdiff_t>(loop.carried);
    while (true) {
      check_run_limit();
      if (!as_bool(run_plan(*loop.condition, stack_, shared_).front())) break;
      std::vector<IValue> next = run_plan(*loop.body, stack_, shared_);
      std::move(next.begin(), next.end(), stack_.begin());
    }
    stack_.erase(stack_.begin() + carried, stack_.end());
  }

  static bool as_bool(const IValue& value) {
    if (value.isTensor()) return value.toTensor().item().toBool();
    return value.toScalar().toBool();
  }

  void keep_results(const Step& step) {
    if (stack_.size() != step.results.size()) {
      throw scheduler::BackendError("gave " + std::to_string(stack_.size()) +
                                    " results, expected " + std::to_string(step.results.size()));
    }
    for (size_t i = 0; i < stack_.size(); ++i) keep(stack_[i], step.results[i]);
  }

  void keep(const IValue& value, const Result& result) {
    const at::ArrayRef<IValue> elements = result.is_list ? value.toListRef() : at::ArrayRef(value);
    if (result.is_list && elements.size() != result.slots.size()) {
      throw scheduler::BackendError("gave " + std::to_string(elements.size()) +
                                    " tensors, expected " + std::to_string(result.slots.size()));
    }
    for (size_t i = 0; i < result.slots.size(); ++i) {
      if (const auto& slot = result.slots[i]) values_[*slot] = elements[i];
    }
  }

  const Plan& plan_;
  const SharedMemory& shared_;
  std::vector<IValue> values_;
  Stack stack_;
};

}  // namespace

void SharedMemory::add(const at::Tensor& tensor) {
  if (!tensor.has_storage()) return;
  storages_.emplace(tensor.storage().unsafeGetStorageImpl(), tensor.storage());
}

bool SharedMemory::contains(const at::Tensor& tensor) const {
  return tensor.has_storage() && storages_.contains(tensor.storage().unsafeGetStorageImpl());
}

void SharedMemory::remove_unused() {
  std::erase_if(storages_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

std::vector<IValue> run_plan(const Plan& plan, std::vector<IValue> inputs,
                             const SharedMemory& shared) {
  return Run(plan, shared)(std::move(inputs));
}

}  // namespace backend
