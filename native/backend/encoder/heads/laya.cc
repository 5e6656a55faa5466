// Laya: logits of the options of a question.
// Source: laya, common.py (DecisionModel), and torch.nn.TransformerEncoderLayer with norm_first.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "encoder/heads/head.h"
#include "encoder/heads/marker_rows.h"
#include "encoder/nn/layer_norm.h"
#include "encoder/nn/linear.h"

namespace backend::heads {
namespace {

constexpr double kEpsilon = 1e-5;  // the default of torch.nn.LayerNorm
constexpr int64_t kQuestionTypes = 3;

at::Tensor relu(const at::Tensor& x) { return at::relu(x); }

/// One attention head for each 64 columns. Throws LoadError if they do not divide the columns.
int64_t head_count(int64_t size) {
  const int64_t heads = std::max<int64_t>(1, size / 64);
  if (size % heads == 0) return heads;
  throw common::LoadError("encoder/config.json: hidden_size: expected a multiple of " +
                          std::to_string(heads) + " attention heads, received " +
                          std::to_string(size));
}

nn::Linear make_projection(const Weights& attention, int64_t size) {
  return {attention.get_as_stored("in_proj_weight", {3 * size, size}),
          attention.get("in_proj_bias", {3 * size}), attention.compute_types()};
}

/// Pre-norm transformer layer with full attention.
class Layer {
 public:
  Layer(const Weights& weights, int64_t size)
      : size_(size),
        num_heads_(head_count(size)),
        query_key_value_(make_projection(weights / "self_attn", size)),
        attention_output_(weights / "self_attn.out_proj", size, size),
        feed_forward_in_(weights / "linear1", size, 4 * size),
        feed_forward_out_(weights / "linear2", 4 * size, size),
        attention_norm_(weights / "norm1", size, kEpsilon),
        feed_forward_norm_(weights / "norm2", size, kEpsilon) {}

  /// [tokens, size] → [rows, size]. rows: tokens whose states are computed; null: all tokens.
  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& batch,
                        std::vector<int64_t>* rows) const {
    constexpr auto kAll = nn::OutputTokens::kAllTokens;
    const at::Tensor normalized = attention_norm_(hidden);
    const auto projections =
        nn::Projections::project(normalized, normalized, query_key_value_, size_, kAll);
    const at::Tensor context = nn::self_attention(projections, batch, num_heads_);
    const auto kept = [&](const at::Tensor& all) { return rows ? gather_rows(all, *rows) : all; };
    const at::Tensor attended = attention_output_.add_to(kept(hidden), kept(context));
    const at::Tensor inner = feed_forward_in_(feed_forward_norm_(attended), relu);
    return feed_forward_out_.add_to(attended, inner);
  }

 private:
  int64_t size_, num_heads_;
  nn::Linear query_key_value_;
  nn::Linear attention_output_;
  nn::Linear feed_forward_in_, feed_forward_out_;
  nn::LayerNorm attention_norm_, feed_forward_norm_;
};

/// Probability that an agent should act, from the state of the first token and the logits of the
/// options.
class ActHead {
 public:
  ActHead(const Weights& weights, int64_t size, int64_t actions)
      : inner_((weights / "0").in_float32(), size + kFeatures, kInnerSize),
        output_((weights / "2").in_float32(), kInnerSize, actions) {}

  /// first: [sequences, size]. logits: of the options of all sequences. counts: [sequences], number
  /// of options. → [sequences]
  at::Tensor operator()(const at::Tensor& first, const at::Tensor& logits,
                        const std::vector<int64_t>& counts) const {
    const at::Tensor features = at::empty({first.size(0), kFeatures});
    auto* feature = features.mutable_data_ptr<float>();
    const at::Tensor contiguous = logits.contiguous();
    const auto* logit = contiguous.const_data_ptr<float>();
    for (const int64_t count : counts) {
      write_features(std::span(logit, static_cast<size_t>(count)), feature);
      logit += count;
      feature += kFeatures;
    }
    const at::Tensor outputs = output_(inner_(at::cat({first, features}, 1), nn::gelu));
    return at::softmax(outputs, 1).select(1, 0).contiguous();
  }

 private:
  static constexpr int64_t kFeatures = 4, kInnerSize = 256;

  /// The largest probability, its distance to the second one, the entropy from 0 to 1, and the
  /// number of options, at least 2.
  static void write_features(std::span<const float> logits, float* features) {
    const float largest = std::ranges::max(logits);
    std::vector<float> probabilities;
    float sum = 0;
    for (const float logit : logits) {
      probabilities.push_back(std::exp(logit - largest));
      sum += probabilities.back();
    }
    float entropy = 0;
    for (float& probability : probabilities) {
      probability /= sum;
      entropy -= probability * std::log(std::max(probability, 1e-9F));
    }
    std::ranges::sort(probabilities, std::greater());
    const auto count = static_cast<float>(std::max<size_t>(probabilities.size(), 2));
    features[0] = probabilities[0];
    features[1] = probabilities[0] - (probabilities.size() > 1 ? probabilities[1] : 0);
    features[2] = entropy / std::log(count);
    features[3] = count / 255;
  }

  nn::Linear inner_, output_;
};

class Laya final : public Head {
 public:
  Laya(const LayaHead& options, const HeadSource& source)
      : types_(source.weights.get("type_emb.weight", {kQuestionTypes, source.hidden_size})),
        scorer_norm_(source.weights / "scorer.0", source.hidden_size, kEpsilon),
        scorer_dense_((source.weights / "scorer.1").in_float32(), source.hidden_size,
                      source.hidden_size),
        scorer_output_((source.weights / "scorer.3").in_float32(), source.hidden_size, 1),
        act_(source.weights / "act_head", source.hidden_size, options.actions) {
    const Weights layers = source.weights / "head.layers";
    for (int64_t i = 0; i < options.layers; ++i) {
      layers_.emplace_back(layers / std::to_string(i), source.hidden_size);
    }
    source.weights.ignore("temperature");  // the configuration has the temperatures
  }

  nn::OutputTokens input_tokens() const override { return nn::OutputTokens::kAllTokens; }
  size_t question_types() const override { return kQuestionTypes; }
  int64_t columns() const override { return 1; }

  /// The states of all tokens: outputs() needs the markers.
  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& /*batch*/) const override {
    return hidden;
  }

  std::vector<scheduler::Output> outputs(const at::Tensor& hidden, const nn::PackedBatch& packed,
                                         Batch sequences) const override {
    auto [rows, counts] = marker_rows(packed, sequences);
    const auto markers = static_cast<int64_t>(rows.size());
    rows.insert(rows.end(), packed.cu_seqlens.begin(), packed.cu_seqlens.end() - 1);
    at::Tensor states = with_types(hidden, packed, sequences);
    for (const Layer& layer : layers_) {
      const bool is_last = &layer == &layers_.back();
      states = layer(states, packed, is_last ? &rows : nullptr);
    }
    if (layers_.empty()) states = gather_rows(states, rows);
    const at::Tensor options = states.narrow(0, 0, markers);
    const at::Tensor logits = scorer_output_(scorer_dense_(scorer_norm_(options), nn::gelu));
    std::vector<scheduler::Output> outputs = split_rows(logits, counts, packed);
    const at::Tensor acts = act_(states.narrow(0, markers, packed.sequences()), logits, counts);
    for (size_t i = 0; i < counts.size(); ++i) {
      scheduler::Output& output = outputs[packed.order[i]];
      output.values.push_back(acts.const_data_ptr<float>()[i]);
      ++output.rows;
    }
    return outputs;
  }

 private:
  /// Adds the embedding of the question's type to the state of each token.
  at::Tensor with_types(const at::Tensor& hidden, const nn::PackedBatch& packed,
                        Batch sequences) const {
    at::Tensor states = hidden.clone();
    for (size_t i = 0; i < packed.order.size(); ++i) {
      const int64_t first = packed.cu_seqlens[i], length = packed.cu_seqlens[i + 1] - first;
      const auto type = static_cast<int64_t>(sequences[packed.order[i]]->question_type);
      states.narrow(0, first, length).add_(types_.select(0, type));
    }
    return states;
  }

  at::Tensor types_;  ///< [types, hidden]
  std::vector<Layer> layers_;
  nn::LayerNorm scorer_norm_;
  nn::Linear scorer_dense_, scorer_output_;
  ActHead act_;
};

}  // namespace

std::unique_ptr<Head> make(const LayaHead& options, const HeadSource& source) {
  return std::make_unique<Laya>(options, source);
}

}  // namespace backend::heads
