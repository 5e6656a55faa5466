#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "backend/model_config.h"
#include "checkpoint/weights.h"
#include "encoder/nn/activation.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"

namespace backend::heads {

/// Checkpoint keys of a transform, and config.json keys of its options.
struct TransformKeys {
  const char* dense = nullptr;
  const char* activation = "gelu";       ///< name of the activation
  const char* activation_key = nullptr;  ///< config.json key that overrides the name; null: none
  const char* norm = nullptr;            ///< null: no layer norm
  const char* epsilon_key = "layer_norm_eps";
  double epsilon = 1e-12;
  const char* dense_bias_key =
      nullptr;  ///< config.json key that says whether there is a bias; null: there is one
  const char* norm_bias_key = nullptr;
  const char* size_key =
      nullptr;  ///< config.json key of the output size; null or absent: the hidden size
};

/// Linear layer, activation and, in some architectures, layer norm, between the hidden states and a
/// head's last layer. Source: transformers, models/bert/modeling_bert.py
/// (BertPredictionHeadTransform).
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

/// Empty if the dense key is null.
std::optional<Transform> make_transform(const ModelConfig& config, const Weights& weights,
                                        const TransformKeys& keys, int64_t hidden_size);

/// The bias option of config.json's `key`, or `otherwise` if absent; kYes if `key` is null.
nn::Bias bias_of(const ModelConfig& config, const char* key, bool otherwise);

}  // namespace backend::heads
