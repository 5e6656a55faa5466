#include "exported/convolution_nodes.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace backend {
namespace {

std::string_view operator_of(const Step& step) {
  const auto* op = std::get_if<c10::OperatorHandle>(&step.call);
  return op == nullptr ? std::string_view() : std::string_view(op->operator_name().name);
}

/// Null where an argument is not constant, or LibTorch has to do it.
std::shared_ptr<const PackedConvolution> packed(const Step& step) {
  const std::string_view name = operator_of(step);
  if (name.empty() || step.operands.empty()) return nullptr;
  if (step.operands[0].from != Operand::From::kSlot) return nullptr;
  std::vector<c10::IValue> arguments(1);  // the input
  for (size_t i = 1; i < step.operands.size(); ++i) {
    if (step.operands[i].from != Operand::From::kConstant) return nullptr;
    arguments.push_back(step.operands[i].constant);
  }
  return packed_convolution(name, arguments);
}

void count_uses(const Operand& operand, std::vector<size_t>& uses) {
  if (operand.from == Operand::From::kSlot) ++uses[operand.slot];
  for (const Operand& item : operand.items) count_uses(item, uses);
}

std::vector<size_t> uses_of_slots(const Plan& plan) {
  std::vector<size_t> uses(plan.slots);
  for (const Step& step : plan.steps) {
    for (const Operand& operand : step.operands) count_uses(operand, uses);
  }
  for (const Operand& output : plan.outputs) count_uses(output, uses);
  return uses;
}

/// The relu() of what is in the slot; null: there is none.
Step* relu_of(Plan& plan, Slot slot) {
  const auto found = std::ranges::find_if(plan.steps, [&](const Step& step) {
    const std::string_view name = operator_of(step);
    return (name == "aten::relu" || name == "aten::relu_") &&
           step.operands[0].from == Operand::From::kSlot && step.operands[0].slot == slot;
  });
  return found == plan.steps.end() ? nullptr : &*found;
}

}  // namespace

void pack_convolutions(Plan& plan) {
  const std::vector<size_t> uses = uses_of_slots(plan);
  for (Step& step : plan.steps) {
    auto convolution = packed(step);
    if (!convolution) continue;
    const auto slot = step.results.front().slots.front();
    if (!slot) continue;  // nobody reads it
    Step* const relu = uses[*slot] == 1 ? relu_of(plan, *slot) : nullptr;
    step.call =
        ConvolutionCall{.convolution = std::move(convolution), .rectified = relu != nullptr};
    step.operands.resize(1);
    if (relu == nullptr) continue;
    step.results = std::move(relu->results);
    relu->results.clear();
  }
  // What a convolution does beside its own work has nowhere to put a result.
  std::erase_if(plan.steps, [](const Step& step) {
    return step.results.empty() && operator_of(step).starts_with("aten::relu");
  });
}

}  // namespace backend
