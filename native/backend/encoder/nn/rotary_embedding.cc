#include "encoder/nn/rotary_embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>

#include "kernels/elementwise.h"
#include "packed/parallel_for.h"

namespace backend::nn {

RotaryEmbedding::RotaryEmbedding(int64_t head_size, double theta)
    : inverse_frequencies_(at::reciprocal(at::pow(
          theta, at::arange(0, head_size, 2, at::TensorOptions(at::kFloat)) / head_size))) {}

RotaryEmbedding::Angles RotaryEmbedding::angles(const at::Tensor& position_ids) const {
  const at::Tensor angles = position_ids.to(at::kFloat).unsqueeze(1) * inverse_frequencies_;
  return {.cos = at::cos(angles), .sin = at::sin(angles)};
}

void rotate(const at::Tensor& states, int64_t num_heads, const RotaryEmbedding::Angles& angles) {
  const int64_t hidden = states.size(1), half = angles.cos.size(1), stride = states.stride(0);
  auto* const first = states.mutable_data_ptr<float>();
  const auto* const cos = angles.cos.const_data_ptr<float>();
  const auto* const sin = angles.sin.const_data_ptr<float>();
  parallel_for_rows(states.size(0), hidden, [&](int64_t row, int64_t count) {
    kernels::rotate({.states = first + row * stride,
                     .stride = stride,
                     .rows = count,
                     .heads = num_heads,
                     .half = half,
                     .cos = cos + row * half,
                     .sin = sin + row * half});
  });
}

}  // namespace backend::nn
