#include "encoder/nn/rms_norm.h"

#include <ATen/ops/empty.h>

#include <utility>

#include "kernels/elementwise.h"
#include "packed/parallel_for.h"

namespace backend::nn {

RmsNorm::RmsNorm(const Weights& weights, int64_t size, double epsilon, float offset)
    : weight_(weights.get("weight", {size})), epsilon_(epsilon) {
  if (offset != 0) weight_.add_(offset);
}

at::Tensor RmsNorm::operator()(const at::Tensor& input) const {
  at::Tensor result = at::empty(input.sizes(), input.options());
  normalize(input, result, false);
  return result;
}

void RmsNorm::normalize_heads(const at::Tensor& states) const { normalize(states, states, false); }

at::Tensor RmsNorm::add_to(at::Tensor y, const at::Tensor& input) const {
  y = y.contiguous();
  normalize(input, y, true);
  return y;
}

void RmsNorm::normalize(const at::Tensor& x, const at::Tensor& y, bool adds) const {
  const int64_t size = weight_.size(0), x_stride = x.stride(0), y_stride = y.stride(0);
  const auto* const from = x.const_data_ptr<float>();
  auto* const to = y.mutable_data_ptr<float>();
  parallel_for_rows(x.size(0), x.size(1), [&](int64_t first, int64_t count) {
    kernels::normalize_rms({.x = from + first * x_stride,
                            .x_stride = x_stride,
                            .y = to + first * y_stride,
                            .y_stride = y_stride,
                            .rows = count,
                            .groups = x.size(1) / size,
                            .size = size,
                            .weight = weight_.const_data_ptr<float>(),
                            .epsilon = static_cast<float>(epsilon_),
                            .adds = adds});
  });
}

}  // namespace backend::nn
