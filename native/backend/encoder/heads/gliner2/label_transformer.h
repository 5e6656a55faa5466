#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "encoder/heads/gliner2/mlp.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"

namespace backend::heads::gliner2 {

/// A small transformer in which the labels of an input attend to each other.
/// Source: gliner2, layers.py (DownscaledTransformer), and torch.nn.TransformerEncoderLayer.
class LabelTransformer {
 public:
  LabelTransformer(const Weights& weights, int64_t size);

  /// [labels, size] → [labels, size]
  at::Tensor operator()(const at::Tensor& labels) const;

 private:
  /// Post-norm layer.
  struct Layer {
    explicit Layer(const Weights& weights);
    at::Tensor operator()(const at::Tensor& rows) const;

    nn::Linear query_key_value, attention_output;
    nn::Linear feed_forward_in, feed_forward_out;
    nn::LayerNorm attention_norm, feed_forward_norm;
  };

  nn::Linear in_;
  std::vector<Layer> layers_;
  Mlp out_;
};

}  // namespace backend::heads::gliner2
