#pragma once

#include <ATen/ops/relu.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "encoder/nn/linear.h"

namespace backend::heads::gliner2 {

/// Linear layers with ReLU between them. Source: gliner2, layers.py (create_mlp).
class Mlp {
 public:
  struct Layer {
    std::string key;
    int64_t out_features;
  };

  Mlp(const Weights& weights, int64_t in_features, std::initializer_list<Layer> layers) {
    for (const auto& [key, out_features] : layers) {
      layers_.emplace_back(weights / key, in_features, out_features);
      in_features = out_features;
    }
  }

  /// [rows, in] → [rows, out of the last layer]
  at::Tensor operator()(at::Tensor rows) const {
    for (size_t i = 0; i < layers_.size(); ++i) {
      rows = layers_[i](i == 0 ? rows : at::relu(rows));
    }
    return rows;
  }

 private:
  std::vector<nn::Linear> layers_;
};

}  // namespace backend::heads::gliner2
