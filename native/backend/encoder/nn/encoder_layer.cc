#include "encoder/nn/encoder_layer.h"

#include <string>

#include "common/error.h"

namespace backend::nn {

EncoderLayer::EncoderLayer(const Weights& weights, const EncoderShape& shape,
                           const EncoderLayerKeys& keys)
    : num_heads_(shape.num_attention_heads),
      activation_(shape.activation),
      query_key_value_(Linear::fused({{weights / keys.query, shape.hidden_size},
                                      {weights / keys.key, shape.hidden_size},
                                      {weights / keys.value, shape.hidden_size}},
                                     shape.hidden_size)),
      attention_output_(weights / keys.attention_output, shape.hidden_size, shape.hidden_size),
      attention_norm_(weights / keys.attention_norm, shape.hidden_size, shape.layer_norm_epsilon),
      feed_forward_in_(weights / keys.feed_forward_in, shape.hidden_size, shape.intermediate_size),
      feed_forward_out_(weights / keys.feed_forward_out, shape.intermediate_size,
                        shape.hidden_size),
      output_norm_(weights / keys.output_norm, shape.hidden_size, shape.layer_norm_epsilon) {}

at::Tensor EncoderLayer::operator()(const at::Tensor& hidden, const PackedBatch& batch,
                                    OutputTokens outputs,
                                    std::span<const at::Tensor> biases) const {
  return with_attention(hidden, batch, outputs, [&](const Projections& projections) {
    return self_attention(projections, batch, num_heads_, {.biases = biases});
  });
}

at::Tensor EncoderLayer::with_attention(const at::Tensor& hidden, const PackedBatch& batch,
                                        OutputTokens outputs, Attention attention) const {
  const at::Tensor kept = gather_output_rows(hidden, batch, outputs);
  const at::Tensor context =
      attention(Projections::project(hidden, kept, query_key_value_, hidden.size(1), outputs));
  const at::Tensor attended = attention_norm_.normalize_sum(attention_output_(context), kept);
  const at::Tensor inner = feed_forward_in_(attended, activation_);
  return output_norm_.normalize_sum(feed_forward_out_(inner), attended);
}

std::vector<EncoderLayer> make_encoder_layers(const Weights& weights, int64_t count,
                                              const EncoderShape& shape,
                                              const EncoderLayerKeys& keys) {
  if (shape.hidden_size % shape.num_attention_heads != 0) {
    throw common::LoadError("config.json: the hidden size " + std::to_string(shape.hidden_size) +
                            " is no multiple of the number of attention heads " +
                            std::to_string(shape.num_attention_heads));
  }
  std::vector<EncoderLayer> layers;
  layers.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    layers.emplace_back(weights / std::to_string(i), shape, keys);
  }
  return layers;
}

}  // namespace backend::nn
