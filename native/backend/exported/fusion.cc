#include "exported/fusion.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "exported/convolution_nodes.h"

namespace backend {
namespace {

/// float32, or nothing. Undefined for None.
std::optional<at::Tensor> constant_floats(const Operand& operand) {
  if (operand.from != Operand::From::kConstant) return std::nullopt;
  if (operand.constant.isNone()) return at::Tensor();
  if (!operand.constant.isTensor()) return std::nullopt;
  const at::Tensor& tensor = operand.constant.toTensor();
  if (tensor.scalar_type() != at::kFloat || tensor.layout() != at::kStrided) return std::nullopt;
  return tensor;
}

/// y = (x - mean) × scale + bias, of each channel; in float64.
struct Normalization {
  at::Tensor mean, scale, bias;
};

std::optional<Normalization> normalization_of(std::string_view name,
                                              const std::vector<Operand>& operands) {
  const bool is_any = name == "aten::batch_norm";
  if (!is_any && name != "aten::_native_batch_norm_legit_no_training") return std::nullopt;
  const auto& epsilon = operands[is_any ? 7 : 6].constant;
  if (is_any && (!operands[5].constant.isBool() || operands[5].constant.toBool())) {
    return std::nullopt;  // it normalizes by the batch
  }
  std::array<at::Tensor, 4> values;  // weight, bias, mean, variance
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = constant_floats(operands[i + 1]);
    if (!value) return std::nullopt;
    values.at(i) = value->defined() ? value->to(at::kDouble) : *value;
  }
  const auto& [weight, bias, mean, variance] = values;
  if (!mean.defined() || !variance.defined() || !epsilon.isDouble()) return std::nullopt;
  const at::Tensor deviation = (variance + epsilon.toDouble()).sqrt();
  return Normalization{
      .mean = mean,
      .scale = (weight.defined() ? weight : at::ones(mean.sizes(), mean.options())) / deviation,
      .bias = bias.defined() ? bias : at::zeros(mean.sizes(), mean.options())};
}

bool is_convolution(const c10::OperatorHandle& op, const std::vector<Operand>& operands) {
  const std::string_view name = op.operator_name().name;
  if (name == "aten::conv1d" || name == "aten::conv2d" || name == "aten::conv3d") return true;
  constexpr size_t kTransposed = 6;
  return name == "aten::convolution" && operands[kTransposed].constant.isBool() &&
         !operands[kTransposed].constant.toBool();
}

bool fuse_normalization(const Normalization& norm, Step& convolution, SharedMemory& shared) {
  const auto* op = std::get_if<c10::OperatorHandle>(&convolution.call);
  if (op == nullptr || !is_convolution(*op, convolution.operands)) return false;
  const auto weight = constant_floats(convolution.operands[1]);
  const auto bias = constant_floats(convolution.operands[2]);
  if (!weight || !weight->defined() || !bias || weight->dim() < 2) return false;
  const int64_t channels = weight->size(0);
  for (const at::Tensor* tensor : {&norm.mean, &norm.scale, &norm.bias}) {
    if (tensor->dim() != 1 || tensor->size(0) != channels) return false;
  }
  std::vector<int64_t> of_channels(static_cast<size_t>(weight->dim()), 1);
  of_channels[0] = channels;
  const at::Tensor before = bias->defined() ? bias->to(at::kDouble) : at::zeros_like(norm.mean);
  const at::Tensor new_weight =
      (weight->to(at::kDouble) * norm.scale.view(of_channels)).to(at::kFloat);
  const at::Tensor new_bias = ((before - norm.mean) * norm.scale + norm.bias).to(at::kFloat);
  for (const at::Tensor& tensor : {new_weight, new_bias}) shared.add(tensor);
  convolution.operands[1].constant = new_weight;
  convolution.operands[2].constant = new_bias;
  return true;
}

bool fuse_gelu(const std::vector<Operand>& operands, Step& layer) {
  auto* call = std::get_if<PackedCall>(&layer.call);
  const c10::IValue& approximation = operands[1].constant;
  const bool is_exact = approximation.isString() && approximation.toStringRef() == "none";
  if (call == nullptr || !is_exact || call->activation != gemm::Activation::kNone) return false;
  call->activation = gemm::Activation::kGelu;
  return true;
}

}  // namespace

bool fuse(const c10::OperatorHandle& next, const std::vector<Operand>& operands, Step& before,
          SharedMemory& shared) {
  const std::string_view name = next.operator_name().name;
  if (name == "aten::gelu") return fuse_gelu(operands, before);
  if (name == "aten::relu" || name == "aten::relu_") return pack_convolution(before, true);
  const auto normalization = normalization_of(name, operands);
  return normalization && fuse_normalization(*normalization, before, shared);
}

}  // namespace backend
