#include <ranges>
#include <utility>

#include "programs/exported/plan.h"
#include "programs/rewrite/rewrite.h"

namespace backend {
namespace {

/// GraphView of a plan.
class PlanView final : public GraphView {
 public:
  PlanView(Plan& plan, SharedMemory& shared) : plan_(plan), shared_(shared), uses_(plan.slots) {
    for (Call call = 0; call < plan.steps.size(); ++call) {
      const auto& operands = plan.steps[call].operands;
      for (const Operand& operand : operands) count(operand);
      if (operands.empty() || operands.front().from != Operand::From::kSlot) continue;
      uses_[operands.front().slot].as_first = call;
    }
    for (const Operand& output : plan.outputs) count(output);
  }

  size_t size() const override { return plan_.steps.size(); }

  std::string_view name(Call call) const override {
    const auto* op = std::get_if<c10::OperatorHandle>(&plan_.steps[call].call);
    return op != nullptr ? std::string_view(op->operator_name().name) : std::string_view();
  }

  Arguments arguments(Call call) const override {
    Arguments arguments;
    for (const Operand& operand : plan_.steps[call].operands) {
      auto& argument = arguments.emplace_back();
      if (operand.from == Operand::From::kConstant) argument = operand.constant;
    }
    return arguments;
  }

  std::optional<Call> consumer(Call call) const override {
    const auto& results = plan_.steps[call].results;
    if (results.size() != 1 || results[0].slots.size() != 1) return std::nullopt;
    const auto& slot_of_result = results[0].slots[0];
    if (!slot_of_result) return std::nullopt;
    const Uses& uses = uses_[*slot_of_result];
    if (uses.count != 1 || !uses.as_first) return std::nullopt;
    for (const Result& other : plan_.steps[*uses.as_first].results | std::views::drop(1)) {
      for (const auto& slot : other.slots) {
        if (slot && uses_[*slot].count > 0) return std::nullopt;
      }
    }
    return uses.as_first;
  }

  void set_argument(Call call, size_t index, const at::Tensor& value) override {
    shared_.add(value);
    plan_.steps[call].operands[index].constant = value;
  }

  void fuse_consumer(Call call, Call consumer) override {
    Step& from = plan_.steps[consumer];
    plan_.steps[call].results = {std::move(from.results.front())};
    from.call = std::monostate();
  }

  void replace(Call call, size_t input, Layer layer) override {
    Step& step = plan_.steps[call];
    step.call = std::move(layer);
    step.operands = {std::move(step.operands[input])};
  }

 private:
  /// Uses of a slot.
  struct Uses {
    size_t count = 0;
    std::optional<Call> as_first;  ///< last call that has the slot as first argument
  };

  void count(const Operand& operand) {
    if (operand.from == Operand::From::kSlot) ++uses_[operand.slot].count;
    for (const Operand& item : operand.items) count(item);
  }

  Plan& plan_;
  SharedMemory& shared_;
  std::vector<Uses> uses_;
};

}  // namespace

void rewrite_plan(Plan& plan, PackedLinears& layers, SharedMemory& shared) {
  PlanView view(plan, shared);
  rewrite(view, layers, true);
  std::erase_if(plan.steps,
                [](const Step& step) { return std::holds_alternative<std::monostate>(step.call); });
}

}  // namespace backend
