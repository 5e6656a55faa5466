// Conversion of ATen's convolution operators to packed convolutions.
#include <algorithm>
#include <array>
#include <optional>

#include "packed/convolution.h"
#include "packed/operator_arguments.h"

namespace backend {
namespace {

/// Positions of an operator's arguments.
struct Signature {
  std::string_view name;
  size_t arguments, groups;
  std::optional<size_t> transposed;
};

/// weight, bias, stride, padding and dilation are the arguments 1 to 5 of each operator.
constexpr std::array<Signature, 4> kSignatures{{{"aten::conv1d", 7, 6, {}},
                                                {"aten::conv2d", 7, 6, {}},
                                                {"aten::convolution", 9, 8, 6},
                                                {"aten::_convolution", 13, 8, 6}}};

bool is_float_tensor(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         value.toTensor().scalar_type() == at::kFloat &&
         value.toTensor().layout() == at::kStrided && value.toTensor().numel() > 0;
}

/// Sets the padding. `padding`: a list, "same" or "valid". Returns false for other values.
bool add_padding(const c10::IValue& padding, const at::Tensor& weight,
                 std::vector<ConvolutionGeometry>& geometry) {
  if (padding.isString()) {
    if (padding.toStringRef() == "valid") return true;
    if (padding.toStringRef() != "same") return false;
    for (size_t i = 0; i < geometry.size(); ++i) {
      if (geometry[i].stride != 1) return false;
      const int64_t zeros = geometry[i].dilation * (weight.size(static_cast<int64_t>(i) + 2) - 1);
      geometry[i].padding_before = zeros / 2;
      geometry[i].padding_after = zeros - geometry[i].padding_before;
    }
    return true;
  }
  const auto zeros = numbers_of(padding, 0, geometry.size());
  if (!zeros) return false;
  for (size_t i = 0; i < geometry.size(); ++i) {
    geometry[i].padding_before = geometry[i].padding_after = (*zeros)[i];
  }
  return true;
}

/// Geometry of each dimension; empty if it is not supported.
std::vector<ConvolutionGeometry> geometry_of(std::span<const c10::IValue> arguments,
                                             const at::Tensor& weight) {
  constexpr size_t kStride = 3, kPadding = 4, kDilation = 5;
  const auto dimensions = static_cast<size_t>(weight.dim()) - 2;
  const auto strides = numbers_of(arguments[kStride], 1, dimensions);
  const auto dilations = numbers_of(arguments[kDilation], 1, dimensions);
  if (!strides || !dilations) return {};
  std::vector<ConvolutionGeometry> geometry(dimensions);
  for (size_t i = 0; i < dimensions; ++i) {
    geometry[i].stride = (*strides)[i];
    geometry[i].dilation = (*dilations)[i];
  }
  if (!add_padding(arguments[kPadding], weight, geometry)) return {};
  return geometry;
}

/// Dimensions of the operator's weight; unset if all numbers are possible.
std::optional<int64_t> weight_dimensions(std::string_view name) {
  if (name == "aten::conv1d") return 3;
  if (name == "aten::conv2d") return 4;
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const PackedConvolution> packed_convolution(
    std::string_view name, std::span<const c10::IValue> arguments) {
  const auto signature = std::ranges::find(kSignatures, name, &Signature::name);
  if (signature == kSignatures.end() || arguments.size() != signature->arguments) return nullptr;
  const bool transposed = signature->transposed && !(arguments[*signature->transposed].isBool() &&
                                                     !arguments[*signature->transposed].toBool());
  if (transposed || !arguments[signature->groups].isInt() || !is_float_tensor(arguments[1])) {
    return nullptr;
  }
  const at::Tensor& weight = arguments[1].toTensor();
  const int64_t groups = arguments[signature->groups].toInt();
  const c10::IValue& bias = arguments[2];
  const bool has_bias = is_float_tensor(bias) && bias.toTensor().dim() == 1 &&
                        bias.toTensor().size(0) == weight.size(0);
  if (weight.dim() < 3 || weight.dim() > 4 || !(has_bias || bias.isNone())) return nullptr;
  if (weight_dimensions(name).value_or(weight.dim()) != weight.dim()) return nullptr;
  if (groups < 1 || weight.size(0) % groups != 0) return nullptr;
  auto geometry = geometry_of(arguments, weight);
  if (geometry.empty()) return nullptr;
  return std::make_shared<const PackedConvolution>(
      weight, has_bias ? bias.toTensor() : at::Tensor(), std::move(geometry), groups);
}

}  // namespace backend
