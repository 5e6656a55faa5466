// MPNet: BERT with relative position biases that all layers share.
// Source: transformers, models/mpnet/modeling_mpnet.py (MPNetModel).
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "common/error.h"
#include "encoder/models/post_norm_encoder.h"

namespace backend::models {
namespace {

// Constants of the reference, not options of config.json.
constexpr int64_t kPaddingId = 1;
constexpr int64_t kBuckets = 32;
constexpr int64_t kMaxDistance = 128;

constexpr nn::EncoderLayerKeys kLayerKeys{
    .query = "attention.attn.q",
    .key = "attention.attn.k",
    .value = "attention.attn.v",
    .attention_output = "attention.attn.o",
    .attention_norm = "attention.LayerNorm",
    .feed_forward_in = "intermediate.dense",
    .feed_forward_out = "output.dense",
    .output_norm = "output.LayerNorm",
};

/// Buckets of the distances of keys from queries (relative_position_bucket); int64, any shape.
at::Tensor relative_position_buckets(const at::Tensor& distance) {
  constexpr int64_t kHalf = kBuckets / 2, kExact = kHalf / 2;
  const at::Tensor n = at::abs(distance);
  const double log_range = std::log(static_cast<double>(kMaxDistance) / kExact);
  const at::Tensor far =
      (at::log(n.to(at::kFloat) / kExact) / log_range * (kHalf - kExact)).to(at::kLong) + kExact;
  const at::Tensor bucket = at::where(n < kExact, n, at::clamp_max(far, kHalf - 1));
  return bucket + (distance > 0).to(at::kLong) * kHalf;
}

/// Returns a function from a length, at most max_length, to the attention bias [heads, length,
/// length]. table: [buckets, heads].
auto make_position_bias(const at::Tensor& table, int64_t max_length) {
  const int64_t furthest = max_length - 1;
  // [heads, 2 × max_length − 1], by key − query, ascending.
  const at::Tensor by_distance =
      at::index_select(table, 0, relative_position_buckets(at::arange(-furthest, furthest + 1)))
          .t()
          .contiguous();
  return [by_distance, furthest](int64_t length) {
    const at::Tensor places = at::arange(length);
    const at::Tensor distance = places.unsqueeze(0) - places.unsqueeze(1);
    return at::index_select(by_distance, 1, (distance + furthest).flatten())
        .view({by_distance.size(0), length, length});
  };
}

}  // namespace

std::unique_ptr<Encoder> make_mpnet(const ModelConfig& config, const Weights& weights) {
  const nn::EncoderShape shape = bert_shape(config);
  auto encoder =
      std::make_unique<PostNormEncoder>(weights, bert_tables(config, shape.hidden_size), shape);
  encoder->layers = nn::make_encoder_layers(
      weights / "encoder.layer", config.layer_count("num_hidden_layers"), shape, kLayerKeys);
  encoder->padding_id = kPaddingId;
  const int64_t buckets = config.integer_or("relative_attention_num_buckets", kBuckets);
  if (buckets < kBuckets) {
    throw common::LoadError("config.json: relative_attention_num_buckets: expected at least " +
                            std::to_string(kBuckets) + ", received " + std::to_string(buckets));
  }
  const int64_t max_length = encoder->sizes().max_length;
  if (max_length < 1) {
    throw common::LoadError("config.json: max_position_embeddings: expected at least 3");
  }
  const Weights bias = weights / "encoder.relative_attention_bias";
  encoder->position_bias =
      make_position_bias(bias.get("weight", {buckets, shape.num_attention_heads}), max_length);
  return encoder;
}

}  // namespace backend::models
