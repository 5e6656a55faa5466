#include "products/packed_layer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace backend {
namespace {

constexpr size_t kNone = SIZE_MAX;

/// Places of the arguments; the weight is [in, out] where it is transposed.
struct Form {
  std::string_view name;
  size_t arguments, input, weight, bias;
  bool is_transposed;
};

constexpr Form kForms[] = {
    {"aten::linear", 3, 0, 1, 2, false},
    {"aten::addmm", 5, 1, 2, 0, true},
    {"aten::mm", 2, 0, 1, kNone, true},
    {"aten::matmul", 2, 0, 1, kNone, true},
};

const Form* form_of(std::string_view name) {
  const auto* const form = std::ranges::find(kForms, name, &Form::name);
  return form != std::end(kForms) ? form : nullptr;
}

bool is_one(const c10::IValue& value) {
  return value.isScalar() && value.toScalar().toDouble() == 1;
}

}  // namespace

std::optional<size_t> linear_input(std::string_view name) {
  const Form* const form = form_of(name);
  return form != nullptr ? std::optional(form->input) : std::nullopt;
}

PackedLayer::PackedLayer(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype)
    : product_(weight, bias, dtype), inputs_(weight.size(1)), outputs_(weight.size(0)) {}

bool PackedLayer::takes(const at::Tensor& x) const {
  return x.defined() && x.scalar_type() == at::kFloat && x.device().is_cpu() &&
         x.layout() == at::kStrided && x.dim() >= 1 && x.size(-1) == inputs_ && inputs_ > 0;
}

at::Tensor PackedLayer::operator()(const at::Tensor& x, gemm::Activation activation) const {
  at::Tensor y = product_(x.reshape({-1, inputs_}), 0, outputs_, activation);
  if (x.dim() == 2) return y;
  std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = outputs_;
  return y.view(sizes);
}

std::shared_ptr<const PackedLayer> PackedLayers::pack(std::string_view name,
                                                      std::span<const c10::IValue> arguments) {
  const Form* const form = form_of(name);
  if (form == nullptr || arguments.size() != form->arguments) return nullptr;
  // addmm: beta × bias + alpha × product
  if (form->bias == 0 && !(is_one(arguments[3]) && is_one(arguments[4]))) return nullptr;
  const c10::IValue& weight = arguments[form->weight];
  if (!weight.isTensor() || weight.toTensor().dim() != 2) return nullptr;
  at::Tensor bias;
  if (form->bias != kNone && !arguments[form->bias].isNone()) {
    if (!arguments[form->bias].isTensor()) return nullptr;
    bias = arguments[form->bias].toTensor();
  }
  return pack(form->is_transposed ? weight.toTensor().t() : weight.toTensor(), bias);
}

std::shared_ptr<const PackedLayer> PackedLayers::pack(const at::Tensor& weight,
                                                      const at::Tensor& bias) {
  // Lower types compute in themselves: with float32 weights alone is it the same arithmetic.
  const auto is_float32 = [](const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kFloat && tensor.layout() == at::kStrided &&
           tensor.device().is_cpu() && !tensor.is_neg();
  };
  if (!is_float32(weight) || weight.numel() == 0) return nullptr;
  if (bias.defined() && (!is_float32(bias) || bias.dim() != 1 || bias.size(0) != weight.size(0))) {
    return nullptr;
  }
  const Key key{weight.const_data_ptr(), weight.size(0),
                weight.size(1),          weight.stride(0),
                weight.stride(1),        bias.defined() ? bias.const_data_ptr() : nullptr};
  auto& layer = layers_[key];
  if (!layer) {
    layer = std::make_shared<const PackedLayer>(weight, bias.defined() ? bias.contiguous() : bias,
                                                dtype_);
  }
  return layer;
}

}  // namespace backend
