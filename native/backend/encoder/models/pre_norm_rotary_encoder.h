#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <vector>

#include "encoder/models/encoder.h"
#include "encoder/nn/embeddings.h"
#include "encoder/nn/rms_norm.h"
#include "encoder/nn/rotary_attention.h"
#include "encoder/nn/rotary_embedding.h"

namespace backend::models {

/// Differences between the architectures with Llama's layers, and default values of config.json.
struct PreNormRotaryOptions {
  bool is_causal;
  const char* activation = "silu";
  const char* activation_key = "hidden_act";
  double epsilon = 1e-6;
  double theta = 10'000;
  int64_t head_size = 0;           ///< default of head_dim; 0: hidden_size divided by the heads
  bool has_head_norms = false;     ///< RMS norm of each query and key head
  float norm_offset = 0;           ///< is added to the weights of RMS norms
  bool has_output_norms = false;   ///< RMS norms after attention and MLP, before the residual sums
  bool scales_embeddings = false;  ///< by √hidden_size
  std::optional<double> attention_scale = std::nullopt;
  /// Bias of query, key and value; empty: attention_bias of config.json, also for the output.
  std::optional<nn::Bias> query_bias = std::nullopt;
  /// For each layer: tokens before and after a token that it attends to, and whether its rotary
  /// positions have local_theta; empty: all tokens, theta.
  // NOLINTNEXTLINE(readability-redundant-member-init): designated initializers may omit it
  std::vector<std::optional<int64_t>> windows{};
  double local_theta = 10'000;
};

/// Pre-norm layers with RMS norm, rotary positions, grouped-query attention and a gated
/// feed-forward network, as in Llama and its descendants. Thread-safe.
class PreNormRotaryEncoder final : public Encoder {
 public:
  /// Throws LoadError.
  PreNormRotaryEncoder(const ModelConfig& config, const Weights& weights,
                       const PreNormRotaryOptions& options);

  EncoderSizes sizes() const override { return sizes_; }
  at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens outputs) const override;

 private:
  class Layer;

  EncoderSizes sizes_;
  bool is_causal_;
  nn::Embedding embeddings_;
  std::optional<double> embedding_scale_;
  nn::RotaryEmbedding rotary_;
  std::optional<nn::RotaryEmbedding> local_rotary_;
  std::vector<std::shared_ptr<const Layer>> layers_;
  nn::RmsNorm final_norm_;
};

}  // namespace backend::models
