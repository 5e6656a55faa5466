#include "exported/packed_layer.h"

namespace backend {

PackedLayer::PackedLayer(const at::Tensor& weight, const at::Tensor& bias, Dtype dtype)
    : product_(make_product(weight, bias, dtype)),
      inputs_(weight.size(1)),
      outputs_(weight.size(0)) {}

bool PackedLayer::takes(const at::Tensor& x) const {
  return x.defined() && x.scalar_type() == at::kFloat && x.device().is_cpu() &&
         x.layout() == at::kStrided && x.dim() >= 1 && x.size(-1) == inputs_ && inputs_ > 0;
}

at::Tensor PackedLayer::operator()(const at::Tensor& x, gemm::Activation activation) const {
  at::Tensor y = (*product_)(x.reshape({-1, inputs_}), 0, outputs_, activation);
  if (x.dim() == 2) return y;
  std::vector<int64_t> sizes(x.sizes().begin(), x.sizes().end());
  sizes.back() = outputs_;
  return y.view(sizes);
}

std::shared_ptr<const PackedLayer> PackedLayers::pack(const at::Tensor& weight,
                                                      const at::Tensor& bias) {
  const auto is_real = [](const at::Tensor& tensor) {
    return at::isFloatingType(tensor.scalar_type()) && tensor.layout() == at::kStrided;
  };
  // Lower types compute in themselves: with float32 weights alone is it the same arithmetic.
  if (weight.dim() != 2 || weight.numel() == 0 || weight.scalar_type() != at::kFloat)
    return nullptr;
  if (bias.defined() && (!is_real(bias) || bias.scalar_type() != at::kFloat || bias.dim() != 1 ||
                         bias.size(0) != weight.size(0))) {
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
