#include "encoder/nn/layer_norm.h"

#include <ATen/ops/empty.h>

#include "kernels/elementwise.h"
#include "packed/parallel_for.h"

namespace backend::nn {

LayerNorm::LayerNorm(const Weights& weights, int64_t size, double epsilon, Bias bias)
    : weight_(weights.get("weight", {size}).contiguous()), epsilon_(epsilon) {
  if (bias == Bias::kYes) bias_ = weights.get("bias", {size}).contiguous();
}

at::Tensor LayerNorm::operator()(const at::Tensor& input) const {
  at::Tensor result = at::empty(input.sizes(), input.options());
  normalize(input.contiguous(), nullptr, result);
  return result;
}

at::Tensor LayerNorm::normalize_sum(at::Tensor input, const at::Tensor& residual) const {
  const at::Tensor rows = residual.contiguous();
  normalize(input, &rows, input);
  return input;
}

void LayerNorm::normalize(const at::Tensor& x, const at::Tensor* residual,
                          const at::Tensor& y) const {
  const int64_t size = x.size(1);
  const auto* const from = x.const_data_ptr<float>();
  const auto* const residual_data =
      residual != nullptr ? residual->const_data_ptr<float>() : nullptr;
  auto* const to = y.mutable_data_ptr<float>();
  parallel_for_rows(x.size(0), size, [&](int64_t first, int64_t count) {
    kernels::normalize(
        {.x = from + first * size,
         .residual = residual_data != nullptr ? residual_data + first * size : nullptr,
         .y = to + first * size,
         .rows = count,
         .size = size,
         .weight = weight_.const_data_ptr<float>(),
         .bias = bias_ ? bias_->const_data_ptr<float>() : nullptr,
         .epsilon = static_cast<float>(epsilon_)});
  });
}

}  // namespace backend::nn
