#include "exported/linear_nodes.h"

#include <string>

namespace backend {
namespace {

constexpr size_t kNone = SIZE_MAX;

/// Places of the operands; the weight is [in, out] where it is transposed.
struct Form {
  const char* name;
  size_t input, weight, bias;
  bool transposed;
};

constexpr Form kForms[] = {
    {"aten::linear", 0, 1, 2, false},
    {"aten::addmm", 1, 2, 0, true},
    {"aten::mm", 0, 1, kNone, true},
    {"aten::matmul", 0, 1, kNone, true},
};

const at::Tensor* constant_tensor(const Operand& operand) {
  const bool is_one = operand.from == Operand::From::kConstant && operand.constant.isTensor();
  return is_one ? &operand.constant.toTensor() : nullptr;
}

bool is_one(const Operand& operand) {
  return operand.from == Operand::From::kConstant && operand.constant.isScalar() &&
         operand.constant.toScalar().toDouble() == 1;
}

}  // namespace

std::optional<PackedCall> packed_call(const c10::OperatorHandle& op,
                                      const std::vector<Operand>& operands, PackedLayers& layers) {
  const auto& name = op.operator_name();
  if (!name.overload_name.empty()) return std::nullopt;
  for (const Form& form : kForms) {
    if (name.name != form.name) continue;
    // addmm: beta × bias + alpha × product
    if (form.bias == 0 && !(is_one(operands[3]) && is_one(operands[4]))) return std::nullopt;
    const at::Tensor* weight = constant_tensor(operands[form.weight]);
    if (weight == nullptr || operands[form.input].from != Operand::From::kSlot) return std::nullopt;
    at::Tensor bias;
    if (form.bias != kNone) {
      const Operand& given = operands[form.bias];
      const at::Tensor* tensor = constant_tensor(given);
      const bool is_absent = given.from == Operand::From::kConstant && given.constant.isNone();
      if (tensor == nullptr && !is_absent) return std::nullopt;
      if (tensor != nullptr) bias = *tensor;
    }
    if (weight->dim() != 2) return std::nullopt;
    auto layer = layers.pack(form.transposed ? weight->t() : *weight, bias);
    if (!layer) return std::nullopt;
    return PackedCall{.layer = std::move(layer),
                      .op = op,
                      .input = form.input,
                      .activation = gemm::Activation::kNone};
  }
  return std::nullopt;
}

}  // namespace backend
