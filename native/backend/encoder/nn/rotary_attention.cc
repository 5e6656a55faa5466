#include "encoder/nn/rotary_attention.h"

#include <string>
#include <utility>

#include "common/error.h"
#include "encoder/nn/shared_prefixes.h"

namespace backend::nn {

HeadShape::HeadShape(const ModelConfig& config, int64_t head_size)
    : heads(config.positive_integer("num_attention_heads")),
      key_value_heads(config.integer_or("num_key_value_heads", heads)) {
  const int64_t hidden = config.positive_integer("hidden_size");
  this->head_size = config.integer_or("head_dim", head_size != 0 ? head_size : hidden / heads);
  if (key_value_heads < 1 || heads % key_value_heads != 0) {
    throw common::LoadError(
        "config.json: num_key_value_heads: expected a divisor of num_attention_heads, received " +
        std::to_string(key_value_heads));
  }
  // No weight of the file limits it before memory for each head is allocated.
  constexpr int64_t kMaxHeads = 4096;
  if (heads > kMaxHeads) {
    throw common::LoadError("config.json: num_attention_heads: expected at most " +
                            std::to_string(kMaxHeads) + ", received " + std::to_string(heads));
  }
  constexpr int64_t kMaxHeadSize = 4096;
  if (this->head_size < 2 || this->head_size % 2 != 0 || this->head_size > kMaxHeadSize) {
    throw common::LoadError("config.json: head_dim: expected an even number up to " +
                            std::to_string(kMaxHeadSize) + ", received " +
                            std::to_string(this->head_size));
  }
}

RotaryAttention::RotaryAttention(const HeadShape& shape, Linear query_key_value,
                                 const AttentionOptions& options)
    : shape_(shape), query_key_value_(std::move(query_key_value)), options_(options) {}

void RotaryAttention::set_norms(RmsNorm query, RmsNorm key) {
  query_norm_ = std::move(query);
  key_norm_ = std::move(key);
}

void RotaryAttention::set_norms(LayerNorm query, LayerNorm key) {
  whole_query_norm_ = std::move(query);
  whole_key_norm_ = std::move(key);
}

at::Tensor RotaryAttention::operator()(const at::Tensor& input, const PackedBatch& batch,
                                       const RotaryEmbedding::Angles* angles, OutputTokens outputs,
                                       const SharedPrefixes* prefixes) const {
  Projections projections = Projections::project(input, gather_output_rows(input, batch, outputs),
                                                 query_key_value_, shape_.query_size(), outputs);
  if (query_norm_) query_norm_->normalize_heads(projections.query);
  if (key_norm_) key_norm_->normalize_heads(projections.keys());
  if (whole_query_norm_) projections.query.copy_((*whole_query_norm_)(projections.query));
  if (whole_key_norm_) projections.keys().copy_((*whole_key_norm_)(projections.keys()));
  if (angles != nullptr) {
    // The rotation angle of a first token is 0.
    if (outputs == OutputTokens::kAllTokens) rotate(projections.query, shape_.heads, *angles);
    rotate(projections.keys(), shape_.key_value_heads, *angles);
  }
  if (prefixes != nullptr) projections.key_value = prefixes->tokens_of(projections.key_value);
  return self_attention(projections, batch, shape_.heads, options_, prefixes);
}

}  // namespace backend::nn
