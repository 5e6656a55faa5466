#include "exported/linear_nodes.h"

#include <utility>

namespace backend {

std::optional<PackedCall> packed_call(const c10::OperatorHandle& op,
                                      const std::vector<Operand>& operands, PackedLayers& layers) {
  const auto& name = op.operator_name();
  const std::optional<size_t> input = linear_input(name.name);
  if (!name.overload_name.empty() || !input) return std::nullopt;
  std::vector<c10::IValue> arguments(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto wanted = i == *input ? Operand::From::kSlot : Operand::From::kConstant;
    if (operands[i].from != wanted) return std::nullopt;
    if (i != *input) arguments[i] = operands[i].constant;
  }
  auto layer = layers.pack(name.name, arguments);
  if (!layer) return std::nullopt;
  return PackedCall{
      .layer = std::move(layer), .op = op, .input = *input, .activation = gemm::Activation::kNone};
}

}  // namespace backend
