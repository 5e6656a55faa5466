#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/FunctionRef.h>

#include <span>

#include "encoder/nn/activation.h"
#include "encoder/nn/attention.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"
#include "text/packed_batch.h"

namespace backend::nn {

/// Sizes shared by all layers of an encoder.
struct EncoderShape {
  int64_t hidden_size;
  int64_t num_attention_heads;
  int64_t intermediate_size;
  double layer_norm_epsilon;
  Activation activation;
};

/// Checkpoint keys of a layer's parts.
struct EncoderLayerKeys {
  const char* query;
  const char* key;
  const char* value;
  const char* attention_output;
  const char* attention_norm;
  const char* feed_forward_in;
  const char* feed_forward_out;
  const char* output_norm;
};

/// Attention of a layer: → [tokens or sequences, hidden].
using Attention = c10::function_ref<at::Tensor(const Projections& projections)>;

/// Post-norm transformer encoder layer, as in BERT and most of its descendants. Copies share the
/// weights. Source: transformers, models/bert/modeling_bert.py (BertLayer).
class EncoderLayer {
 public:
  EncoderLayer(const Weights& weights, const EncoderShape& shape, const EncoderLayerKeys& keys);

  /// hidden: [tokens, hidden] → [tokens or sequences, hidden]. biases: see AttentionOptions.
  at::Tensor operator()(const at::Tensor& hidden, const PackedBatch& batch, OutputTokens outputs,
                        std::span<const at::Tensor> biases = {}) const;

  /// Like operator(), with an architecture-specific attention.
  at::Tensor with_attention(const at::Tensor& hidden, const PackedBatch& batch,
                            OutputTokens outputs, Attention attention) const;

 private:
  int64_t num_heads_;
  Activation activation_;
  Linear query_key_value_;
  Linear attention_output_;
  LayerNorm attention_norm_;
  Linear feed_forward_in_;
  Linear feed_forward_out_;
  LayerNorm output_norm_;
};

/// Layers 0 … count - 1 under `weights`. Throws LoadError if the hidden size is not a multiple of
/// the number of heads.
std::vector<EncoderLayer> make_encoder_layers(const Weights& weights, int64_t count,
                                              const EncoderShape& shape,
                                              const EncoderLayerKeys& keys);

}  // namespace backend::nn
