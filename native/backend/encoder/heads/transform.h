#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "backend/model_config.h"
#include "checkpoint/weights.h"
#include "encoder/nn/activation.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"

namespace backend::heads {

/// What a family calls the parts of a transform, and where config.json says more of them.
struct TransformKeys {
  const char* dense = nullptr;
  const char* activation = "gelu";       ///< its name
  const char* activation_key = nullptr;  ///< of config.json, which may name another
  const char* norm = nullptr;            ///< nullptr: there is none
  const char* epsilon_key = "layer_norm_eps";
  double epsilon = 1e-12;
  const char* dense_bias_key = nullptr;  ///< whether it has one; nullptr: it has
  const char* norm_bias_key = nullptr;
  const char* size_key = nullptr;  ///< of its outputs; absent: the hidden size
};

/// What stands between the states and a head's last layer: a linear layer, an activation and, in
/// some, a layer norm.
/// Source: transformers, models/bert/modeling_bert.py (BertPredictionHeadTransform).
class Transform {
 public:
  Transform(const ModelConfig& config, const Weights& weights, const TransformKeys& keys,
            int64_t hidden_size);

  /// [rows, hidden] → [rows, size]
  at::Tensor operator()(const at::Tensor& hidden) const;

  int64_t size() const { return size_; }

 private:
  int64_t size_;
  nn::Linear dense_;
  nn::Activation activation_;
  std::optional<nn::LayerNorm> norm_;
};

/// Whether config.json says so; no key: yes.
nn::Bias bias_of(const ModelConfig& config, const char* key, bool otherwise);

}  // namespace backend::heads
