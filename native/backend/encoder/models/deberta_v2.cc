// DeBERTa-v2 and v3.
// Source: transformers, models/deberta_v2/modeling_deberta_v2.py (DebertaV2Model).
#include <ATen/ops/conv1d.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "common/error.h"
#include "encoder/models/post_norm_encoder.h"
#include "encoder/nn/disentangled_attention.h"

namespace backend::models {
namespace {

constexpr nn::EncoderLayerKeys kLayerKeys{
    .query = "attention.self.query_proj",
    .key = "attention.self.key_proj",
    .value = "attention.self.value_proj",
    .attention_output = "attention.output.dense",
    .attention_norm = "attention.output.LayerNorm",
    .feed_forward_in = "intermediate.dense",
    .feed_forward_out = "output.dense",
    .output_norm = "output.LayerNorm",
};

constexpr double kDefaultEpsilon = 1e-7;

nn::EncoderShape shape_of(const ModelConfig& config) {
  const nn::EncoderShape shape = bert_shape(config, kDefaultEpsilon);
  const int64_t head_size = shape.hidden_size / shape.num_attention_heads;
  if (config.integer_or("attention_head_size", head_size) != head_size) {
    throw common::LoadError("config.json: attention_head_size: expected hidden_size divided by " +
                            std::string("num_attention_heads, ") + std::to_string(head_size));
  }
  return shape;
}

int64_t embedding_size(const ModelConfig& config, int64_t hidden_size) {
  const int64_t size = config.count_or("embedding_size", hidden_size);
  return size == hidden_size ? size : config.positive_integer("embedding_size");
}

/// Relative-position options of config.json.
struct RelativeAttention {
  explicit RelativeAttention(const ModelConfig& config)
      : enabled(config.boolean_or("relative_attention", false)),
        share_att_key(config.boolean_or("share_att_key", false)) {
    const std::vector<std::string> types = config.strings("pos_att_type");
    c2p = std::ranges::count(types, "c2p") > 0;
    p2c = std::ranges::count(types, "p2c") > 0;
    const std::vector<std::string> norms = config.strings("norm_rel_ebd");
    layer_norm = std::ranges::count(norms, "layer_norm") > 0;
    const int64_t limit = config.positive_integer("max_position_embeddings");
    const int64_t max_distance = config.integer_or("max_relative_positions", -1);
    const int64_t buckets = config.integer_or("position_buckets", -1);
    positions = {.max_length = limit,
                 .span = buckets > 0 ? buckets : (max_distance < 1 ? limit : max_distance),
                 .buckets = buckets,
                 .max_distance = max_distance < 1 ? limit : max_distance};
    if (buckets == 1) throw common::LoadError("config.json: position_buckets: expected at least 2");
  }

  bool enabled, share_att_key, c2p, p2c, layer_norm;
  nn::RelativePositions positions{};
};

/// Throws LoadError if the table rows of all offsets would need far more memory than the weights.
/// The number of positions is a plain number in config.json: v3 has no weights that bound it.
void require_few_offsets(const RelativeAttention& relative, size_t file_bytes) {
  constexpr double kAlways = 256e6;
  constexpr double kTimesTheWeights = 4;
  constexpr double kIndexBytes = 64;  // while the rows are computed
  const double bytes = 2 * static_cast<double>(relative.positions.max_length) * kIndexBytes;
  if (bytes > kAlways && bytes > kTimesTheWeights * static_cast<double>(file_bytes)) {
    throw common::LoadError(
        "config.json: max_position_embeddings: " + std::to_string(relative.positions.max_length) +
        " positions take " + std::to_string(std::llround(bytes / 1e6)) +
        " MB of relative positions, far more than the weights");
  }
}

/// Attentions of the layers, from the shared table of relative positions.
std::vector<nn::DisentangledAttention> make_attentions(const Weights& encoder, int64_t count,
                                                       const nn::EncoderShape& shape,
                                                       const RelativeAttention& relative) {
  const int64_t size = shape.hidden_size;
  require_few_offsets(relative, encoder.file_bytes());
  const auto rows = relative.positions.rows();
  at::Tensor table;
  if (relative.enabled) {
    table = (encoder / "rel_embeddings").get("weight", {2 * relative.positions.span, size});
  }
  if (relative.layer_norm) {
    const nn::LayerNorm norm(encoder / "LayerNorm", size, shape.layer_norm_epsilon);
    if (table.defined()) table = norm(table);
  }
  std::vector<nn::DisentangledAttention> attentions;
  for (int64_t i = 0; i < count; ++i) {
    // These layers are applied once, here; their results are kept.
    const Weights self = (encoder / ("layer." + std::to_string(i)) / "attention.self").in_float32();
    const bool shared = relative.share_att_key;
    at::Tensor keys, queries;
    if (table.defined() && relative.c2p) {
      keys = nn::Linear(self / (shared ? "key_proj" : "pos_key_proj"), size, size)(table);
    }
    if (table.defined() && relative.p2c) {
      queries = nn::Linear(self / (shared ? "query_proj" : "pos_query_proj"), size, size)(table);
    }
    attentions.emplace_back(keys, queries, rows, shape.num_attention_heads,
                            1 + (relative.c2p ? 1 : 0) + (relative.p2c ? 1 : 0),
                            encoder.compute_types().attention);
  }
  return attentions;
}

/// Convolution parallel to the first layer, in large v2 models (ConvLayer).
class Convolution {
 public:
  Convolution(const ModelConfig& config, const Weights& weights, const nn::EncoderShape& shape)
      : kernel_size_(config.positive_integer("conv_kernel_size")),
        groups_(config.integer_or("conv_groups", 1)),
        activation_(nn::activation_by_name(config.string_or("conv_act", "tanh"), "conv_act")),
        norm_(weights / "LayerNorm", shape.hidden_size, shape.layer_norm_epsilon) {
    if (kernel_size_ % 2 == 0) {
      throw common::LoadError("config.json: conv_kernel_size: expected an odd number, received " +
                              std::to_string(kernel_size_));
    }
    if (groups_ < 1 || shape.hidden_size % groups_ != 0) {
      throw common::LoadError(
          "config.json: conv_groups: expected a divisor of hidden_size, received " +
          std::to_string(groups_));
    }
    const Weights conv = weights / "conv";
    weight_ = conv.get("weight", {shape.hidden_size, shape.hidden_size / groups_, kernel_size_});
    bias_ = conv.get("bias", {shape.hidden_size});
  }

  /// embedded: input of the first layer. output: its result. All [tokens, hidden].
  at::Tensor operator()(const at::Tensor& embedded, const at::Tensor& output,
                        const nn::PackedBatch& batch) const {
    at::Tensor convolved = at::empty_like(embedded);
    // Each sequence separately: LibTorch uses another algorithm for several.
    for (size_t i = 0; i + 1 < batch.cu_seqlens.size(); ++i) {
      const int64_t token = batch.cu_seqlens[i], length = batch.cu_seqlens[i + 1] - token;
      const at::Tensor states = embedded.narrow(0, token, length).unsqueeze(0);
      const at::Tensor result =
          at::conv1d(states.transpose(1, 2), weight_, bias_, /*stride=*/1,
                     /*padding=*/(kernel_size_ - 1) / 2, /*dilation=*/1, groups_);
      convolved.narrow(0, token, length).unsqueeze(0).copy_(result.transpose(1, 2));
    }
    return norm_.normalize_sum(activation_(convolved), output);
  }

 private:
  int64_t kernel_size_;
  int64_t groups_;
  nn::Activation activation_;
  nn::LayerNorm norm_;
  at::Tensor weight_, bias_;
};

class DebertaV2 final : public Encoder {
 public:
  DebertaV2(const ModelConfig& config, const Weights& weights)
      : DebertaV2(config, weights, shape_of(config)) {}

  at::Tensor operator()(const nn::PackedBatch& batch, nn::OutputTokens outputs) const override {
    at::Tensor hidden = embeddings_(batch.input_ids, batch.position_ids(), batch.token_type_ids);
    if (embed_proj_) hidden = (*embed_proj_)(hidden);
    hidden = embeddings_norm_(hidden);
    const at::Tensor embedded = hidden;
    for (size_t i = 0; i + 1 < layers_.size(); ++i) {
      hidden = run_layer(i, hidden, batch, nn::OutputTokens::kAllTokens);
      if (i == 0 && convolution_) hidden = (*convolution_)(embedded, hidden, batch);
    }
    return run_layer(layers_.size() - 1, hidden, batch, outputs);
  }

  EncoderSizes sizes() const override { return sizes_; }

 private:
  DebertaV2(const ModelConfig& config, const Weights& weights, const nn::EncoderShape& shape)
      // Without a position table longer texts would run, but the model was not trained on them.
      : sizes_{.max_length = config.positive_integer("max_position_embeddings"),
               .vocabulary_size = config.positive_integer("vocab_size"),
               .token_types = config.count_or("type_vocab_size", 0),
               .hidden_size = shape.hidden_size},
        embeddings_(
            weights / "embeddings",
            {.words = sizes_.vocabulary_size,
             .positions = config.boolean_or("position_biased_input", true) ? sizes_.max_length : 0,
             .token_types = sizes_.token_types,
             .size = embedding_size(config, shape.hidden_size)}),
        embeddings_norm_(weights / "embeddings.LayerNorm", shape.hidden_size,
                         shape.layer_norm_epsilon),
        layers_(nn::make_encoder_layers(
            weights / "encoder.layer", config.layer_count("num_hidden_layers"), shape, kLayerKeys)),
        attentions_(make_attentions(weights / "encoder", static_cast<int64_t>(layers_.size()),
                                    shape, RelativeAttention(config))) {
    if (const int64_t size = embedding_size(config, shape.hidden_size); size != shape.hidden_size) {
      embed_proj_.emplace(weights / "embeddings.embed_proj", size, shape.hidden_size,
                          nn::Bias::kNo);
    }
    if (config.integer_or("conv_kernel_size", 0) > 0) {
      if (layers_.size() == 1) {
        throw common::LoadError(
            "config.json: conv_kernel_size: expected more than one layer beside it");
      }
      convolution_.emplace(config, weights / "encoder.conv", shape);
    }
    if (config.integer_or("pooler_hidden_size", shape.hidden_size) != shape.hidden_size) {
      throw common::LoadError("config.json: pooler_hidden_size: expected hidden_size");
    }
    weights.ignore("embeddings.position_embeddings.weight");
  }

  at::Tensor run_layer(size_t i, const at::Tensor& hidden, const nn::PackedBatch& batch,
                       nn::OutputTokens outputs) const {
    return layers_[i].with_attention(
        hidden, batch, outputs,
        [&](const nn::Projections& projections) { return attentions_[i](projections, batch); });
  }

  EncoderSizes sizes_;
  nn::InputEmbeddings embeddings_;
  nn::LayerNorm embeddings_norm_;
  std::vector<nn::EncoderLayer> layers_;
  std::vector<nn::DisentangledAttention> attentions_;
  std::optional<nn::Linear> embed_proj_;
  std::optional<Convolution> convolution_;
};

}  // namespace

std::unique_ptr<Encoder> make_deberta_v2(const ModelConfig& config, const Weights& weights) {
  return std::make_unique<DebertaV2>(config, weights);
}

}  // namespace backend::models
