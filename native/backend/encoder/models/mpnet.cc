// MPNet for sequence classification: BERT with relative position biases, shared by all layers.
// Source: transformers, models/mpnet/modeling_mpnet.py (MPNetForSequenceClassification).
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/log.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "encoder/models/bert_encoder.h"
#include "encoder/models/sequence_classifier.h"
#include "encoder/nn/classification_head.h"

namespace backend::models {
namespace {

// Fixed in the reference, whatever the configuration says.
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

/// Bucket of each distance of a key from its query (relative_position_bucket); int64, any shape.
at::Tensor relative_position_buckets(const at::Tensor& distance) {
  constexpr int64_t kHalf = kBuckets / 2, kExact = kHalf / 2;
  const at::Tensor n = at::abs(distance);
  const double log_range = std::log(static_cast<double>(kMaxDistance) / kExact);
  const at::Tensor far =
      (at::log(n.to(at::kFloat) / kExact) / log_range * (kHalf - kExact)).to(at::kLong) + kExact;
  const at::Tensor bucket = at::where(n < kExact, n, at::clamp_max(far, kHalf - 1));
  return bucket + (distance > 0).to(at::kLong) * kHalf;
}

class MpNet final : public SequenceClassifier {
 public:
  MpNet(const ModelConfig& config, const Weights& weights)
      : MpNet(config, weights, weights / "mpnet", bert_encoder_shape(config)) {}

  at::Tensor forward(const nn::PackedBatch& batch) const override {
    const at::Tensor hidden = embeddings_norm_(
        embeddings_(batch.input_ids, batch.position_ids_after(kPaddingId), batch.token_type_ids));
    std::vector<at::Tensor> biases;
    biases.reserve(batch.groups.size());
    for (const auto& group : batch.groups) biases.push_back(position_bias(group.length));
    return head_(nn::first_token_states(layers_, hidden, batch, biases));
  }

  int64_t max_length() const override { return embeddings_.positions() - kPaddingId - 1; }
  int64_t vocabulary_size() const override { return embeddings_.words(); }
  int64_t token_types() const override { return embeddings_.token_types(); }

 private:
  MpNet(const ModelConfig& config, const Weights& weights, const Weights& mpnet,
        const nn::EncoderShape& shape)
      : embeddings_(mpnet / "embeddings",
                    {.words = config.positive_integer("vocab_size"),
                     .positions = config.positive_integer("max_position_embeddings"),
                     .token_types = 0,
                     .size = shape.hidden_size}),
        embeddings_norm_(mpnet / "embeddings.LayerNorm", shape.hidden_size,
                         shape.layer_norm_epsilon),
        layers_(nn::make_encoder_layers(
            mpnet / "encoder.layer", config.layer_count("num_hidden_layers"), shape, kLayerKeys)),
        head_(weights / "classifier.dense", weights / "classifier.out_proj", shape.hidden_size,
              config.positive_integer("num_labels"), nn::tanh) {
    const int64_t buckets = config.integer_or("relative_attention_num_buckets", kBuckets);
    if (buckets < kBuckets) {
      throw LoadError("config.json: relative_attention_num_buckets: expected at least " +
                      std::to_string(kBuckets) + ", received " + std::to_string(buckets));
    }
    if (max_length() < 1) {
      throw LoadError("config.json: max_position_embeddings: expected at least 3");
    }
    const at::Tensor table = (mpnet / "encoder.relative_attention_bias")
                                 .get("weight", {buckets, shape.num_attention_heads});
    const int64_t furthest = max_length() - 1;
    bias_by_distance_ =
        at::index_select(table, 0, relative_position_buckets(at::arange(-furthest, furthest + 1)))
            .t()
            .contiguous();
  }

  /// Added to the scores of one sequence: [heads, length, length].
  at::Tensor position_bias(int64_t length) const {
    const at::Tensor places = at::arange(length);
    const at::Tensor distance = places.unsqueeze(0) - places.unsqueeze(1);
    const at::Tensor index = (distance + (max_length() - 1)).flatten();
    return at::index_select(bias_by_distance_, 1, index)
        .view({bias_by_distance_.size(0), length, length});
  }

  nn::InputEmbeddings embeddings_;
  nn::LayerNorm embeddings_norm_;
  std::vector<nn::EncoderLayer> layers_;
  at::Tensor bias_by_distance_;  ///< [heads, 2 × max_length − 1], key − query from the lowest on
  nn::ClassificationHead head_;
};

}  // namespace

std::unique_ptr<SequenceClassifier> make_mpnet(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<MpNet>(config, weights);
}

}  // namespace backend::models
