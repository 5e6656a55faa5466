#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "encoder/models/encoder.h"
#include "encoder/nn/embeddings.h"
#include "encoder/nn/gated_mlp.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"
#include "encoder/nn/rotary_attention.h"
#include "encoder/nn/rotary_embedding.h"

namespace backend::models {

/// Checkpoint keys, all below the base model or its layer. A null key: the layer or table is
/// absent.
struct PostNormRotaryKeys {
  const char* embeddings_norm;
  const char* layers;
  const char* query_key_value;  ///< one weight; null: query, key and value are separate
  const char *query, *key, *value;
  const char* attention_output;
  const char* attention_norm;
  const char* gate_and_up;  ///< one weight, see is_gate_first; null: gate and up are separate
  const char* gate;         ///< null: a network of `up`, activation and `down`
  const char* up;
  const char* down;
  const char* output_norm;
  bool is_gate_first = false;        ///< of gate_and_up
  const char* query_norm = nullptr;  ///< layer norms of all heads of queries and keys together
  const char* key_norm = nullptr;
};

/// Which linear layers have a bias.
struct PostNormRotaryBiases {
  nn::Bias attention, up, down;
};

/// Post-norm encoder with positions inside attention: rotary, or ALiBi. Its feed-forward network is
/// gated or plain. Thread-safe.
class PostNormRotaryEncoder final : public Encoder {
 public:
  /// Default values of config.json.
  struct Defaults {
    const char* activation;
    double epsilon;
    double theta;  ///< 0: ALiBi
  };

  /// Throws LoadError.
  PostNormRotaryEncoder(const ModelConfig& config, const Weights& weights,
                        const PostNormRotaryKeys& keys, const PostNormRotaryBiases& biases,
                        const Defaults& defaults);

  EncoderSizes sizes() const override { return sizes_; }
  at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens outputs) const override;

 private:
  class Layer;

  EncoderSizes sizes_;
  nn::InputEmbeddings embeddings_;
  nn::LayerNorm embeddings_norm_;
  std::optional<nn::RotaryEmbedding> rotary_;
  std::vector<float> distance_slopes_;  ///< ALiBi: [heads]
  std::vector<std::shared_ptr<const Layer>> layers_;
};

}  // namespace backend::models
