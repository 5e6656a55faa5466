#include "encoder/nn/rotary_embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>

namespace backend::nn {

RotaryEmbedding::RotaryEmbedding(int64_t head_size, double theta)
    : inverse_frequencies_(at::reciprocal(at::pow(
          theta, at::arange(0, head_size, 2, at::TensorOptions(at::kFloat)) / head_size))) {}

RotaryEmbedding::Angles RotaryEmbedding::angles(const at::Tensor& position_ids) const {
  const at::Tensor half = position_ids.to(at::kFloat).unsqueeze(1) * inverse_frequencies_;
  const at::Tensor whole = at::cat({half, half}, 1).unsqueeze(1);
  return {.cos = at::cos(whole), .sin = at::sin(whole)};
}

void rotate(const at::Tensor& states, int64_t num_heads, const RotaryEmbedding::Angles& angles) {
  const at::Tensor heads = states.view({states.size(0), num_heads, -1});
  const int64_t half = heads.size(2) / 2;
  const at::Tensor turned =
      at::cat({at::neg(heads.narrow(2, half, half)), heads.narrow(2, 0, half)}, 2);
  heads.copy_(heads * angles.cos + turned * angles.sin);
}

}  // namespace backend::nn
