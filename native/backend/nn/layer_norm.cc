#include "nn/layer_norm.h"

#include <ATen/ops/layer_norm.h>

namespace backend::nn {

LayerNorm::LayerNorm(const Weights& weights, int64_t size, double epsilon, Bias bias)
    : weight_(weights.get("weight", {size})), epsilon_(epsilon) {
  if (bias == Bias::kYes) bias_ = weights.get("bias", {size});
}

at::Tensor LayerNorm::operator()(const at::Tensor& input) const {
  return at::layer_norm(input, weight_.sizes(), weight_, bias_, epsilon_);
}

}  // namespace backend::nn
