#include "encoder/heads/gliner2/label_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <string>

namespace backend::heads::gliner2 {
namespace {

constexpr int64_t kLayers = 2;
constexpr int64_t kSize = 128;
constexpr int64_t kHeads = 4;
constexpr double kEpsilon = 1e-5;  // the default of torch.nn.LayerNorm

at::Tensor relu(const at::Tensor& x) { return at::relu(x); }

/// projections: [rows, 3 × kSize]: queries, keys, values → [rows, kSize]
at::Tensor attention(const at::Tensor& projections) {
  constexpr int64_t kHeadSize = kSize / kHeads;
  const at::Tensor heads =
      projections.view({projections.size(0), 3, kHeads, kHeadSize}).permute({1, 2, 0, 3});
  const at::Tensor scores =
      at::matmul(heads[0], heads[1].transpose(1, 2)) / std::sqrt(static_cast<double>(kHeadSize));
  return at::matmul(at::softmax(scores, -1), heads[2])
      .transpose(0, 1)
      .reshape({projections.size(0), kSize});
}

}  // namespace

LabelTransformer::Layer::Layer(const Weights& weights)
    : query_key_value((weights / "self_attn").get("in_proj_weight", {3 * kSize, kSize}),
                      (weights / "self_attn").get("in_proj_bias", {3 * kSize}), ComputeTypes()),
      attention_output(weights / "self_attn.out_proj", kSize, kSize),
      feed_forward_in(weights / "linear1", kSize, 2 * kSize),
      feed_forward_out(weights / "linear2", 2 * kSize, kSize),
      attention_norm(weights / "norm1", kSize, kEpsilon),
      feed_forward_norm(weights / "norm2", kSize, kEpsilon) {}

at::Tensor LabelTransformer::Layer::operator()(const at::Tensor& rows) const {
  const at::Tensor attended =
      attention_norm(rows + attention_output(attention(query_key_value(rows))));
  return feed_forward_norm(attended + feed_forward_out(feed_forward_in(attended, relu)));
}

LabelTransformer::LabelTransformer(const Weights& weights, int64_t size)
    : in_(weights / "in_projector", size, kSize),
      out_(weights / "out_projector", kSize + size, {{"0", size}, {"2", size}, {"4", size}}) {
  for (int64_t i = 0; i < kLayers; ++i) {
    layers_.emplace_back(weights / "transformer.layers" / std::to_string(i));
  }
}

at::Tensor LabelTransformer::operator()(const at::Tensor& labels) const {
  at::Tensor rows = in_(labels);
  for (const Layer& layer : layers_) rows = layer(rows);
  return out_(at::cat({rows, labels}, 1));
}

}  // namespace backend::heads::gliner2
