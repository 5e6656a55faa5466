#include "exported/convolution_nodes.h"

#include <utility>

namespace backend {

bool pack_convolution(Step& step, bool rectified) {
  const auto* op = std::get_if<c10::OperatorHandle>(&step.call);
  if (op == nullptr || step.operands.empty()) return false;
  if (step.operands[0].from != Operand::From::kSlot) return false;
  std::vector<c10::IValue> arguments(1);  // the input
  for (size_t i = 1; i < step.operands.size(); ++i) {
    if (step.operands[i].from != Operand::From::kConstant) return false;
    arguments.push_back(step.operands[i].constant);
  }
  auto convolution = packed_convolution(op->operator_name().name, arguments);
  if (!convolution) return false;
  step.call = ConvolutionCall{.convolution = std::move(convolution), .rectified = rectified};
  step.operands.resize(1);
  return true;
}

}  // namespace backend
