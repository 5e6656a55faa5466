// Scorers with attention between the labels and the text. Each sequence is computed alone, so that
// its result does not depend on the batch.
// Source: gliclass, scorers.py (HopfieldScorer, CrossAttnScorer).
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>

#include <cmath>
#include <string>

#include "common/error.h"
#include "encoder/heads/gliclass/mlp.h"
#include "encoder/heads/gliclass/scorer.h"
#include "encoder/nn/layer_norm.h"

namespace backend::heads::gliclass {
namespace {

constexpr int64_t kHopfieldMlpSize = 256;
constexpr double kHopfieldBeta = 4;
constexpr double kEpsilon = 1e-5;  // the default of torch.nn.LayerNorm

at::Tensor relu(const at::Tensor& x) { return at::relu(x); }

/// Calls run(rows of the text, rows of the labels) for each sequence, and concatenates the results:
/// [labels, columns].
template <class Run>
at::Tensor for_each_sequence(const TextsAndLabels& input, const Run& run) {
  std::vector<at::Tensor> results;
  int64_t text = 0, label = 0;
  for (size_t i = 0; i < input.label_counts.size(); ++i) {
    const int64_t texts = input.text_rows[i], labels = input.label_counts[i];
    if (labels > 0) results.push_back(run(text, texts, label, labels));
    text += texts;
    label += labels;
  }
  return at::cat(results);
}

/// One step of a Hopfield network over the labels.
class Hopfield final : public Scorer {
 public:
  Hopfield(const Weights& weights, int64_t size)
      : query_(weights / "q_proj", size, size, nn::Bias::kNo),
        key_(weights / "k_proj", size, size, nn::Bias::kNo),
        value_(weights / "v_proj", size, size, nn::Bias::kNo),
        mlp_(weights / "mlp", size, kHopfieldMlpSize, relu) {}

  at::Tensor operator()(const TextsAndLabels& input) const override {
    const at::Tensor queries = query_(input.labels);
    const at::Tensor keys = key_(input.texts), values = value_(input.texts);
    const at::Tensor contexts = for_each_sequence(
        input, [&](int64_t text, int64_t /*texts*/, int64_t label, int64_t labels) {
          at::Tensor scores = at::empty({labels, 1}, queries.options());
          for (int64_t i = 0; i < labels; ++i) {
            scores.mutable_data_ptr<float>()[i] =
                dot(queries.const_data_ptr<float>() + (label + i) * queries.size(1),
                    keys.const_data_ptr<float>() + text * keys.size(1), keys.size(1));
          }
          return at::softmax(scores * kHopfieldBeta, 0) * values.narrow(0, text, 1);
        });
    return mlp_(input.labels + contexts);
  }

 private:
  nn::Linear query_, key_, value_;
  Mlp mlp_;
};

/// Labels attend to the tokens of the text.
class CrossAttention final : public Scorer {
 public:
  CrossAttention(const Weights& weights, int64_t size, const GliclassHead& options)
      : num_heads_(options.attention_heads),
        head_size_(size / options.attention_heads),
        label_norm_(weights / "q_norm", size, kEpsilon),
        text_norm_(weights / "kv_norm", size, kEpsilon),
        context_norm_(weights / "norm", size, kEpsilon),
        query_(weights / "q", size, size),
        key_(weights / "k", size, size),
        value_(weights / "v", size, size),
        output_(weights / "out", size, size),
        mlp_(weights / "score_mlp", 2 * size, options.mlp_size, nn::gelu) {}

  at::Tensor operator()(const TextsAndLabels& input) const override {
    const at::Tensor queries = query_(label_norm_(input.labels));
    const at::Tensor keys = key_(text_norm_(input.texts)), values = value_(input.texts);
    const double scale = 1 / std::sqrt(static_cast<double>(head_size_));
    const at::Tensor contexts =
        for_each_sequence(input, [&](int64_t text, int64_t texts, int64_t label, int64_t labels) {
          const at::Tensor query = by_head(queries, label, labels) * scale;
          const at::Tensor key = by_head(keys, text, texts).transpose(1, 2);
          const at::Tensor weights = at::softmax(at::matmul(query, key), -1);
          return at::matmul(weights, by_head(values, text, texts))
              .transpose(0, 1)
              .reshape({labels, num_heads_ * head_size_});
        });
    return mlp_(at::cat({context_norm_(output_(contexts)), input.labels}, 1));
  }

 private:
  /// [heads, count, head size]
  at::Tensor by_head(const at::Tensor& rows, int64_t first, int64_t count) const {
    return rows.narrow(0, first, count).view({count, num_heads_, head_size_}).transpose(0, 1);
  }

  int64_t num_heads_, head_size_;
  nn::LayerNorm label_norm_, text_norm_, context_norm_;
  nn::Linear query_, key_, value_, output_;
  Mlp mlp_;
};

}  // namespace

std::unique_ptr<Scorer> make_hopfield_scorer(const Weights& weights, int64_t size) {
  return std::make_unique<Hopfield>(weights, size);
}

std::unique_ptr<Scorer> make_cross_attention_scorer(const Weights& weights, int64_t size,
                                                    const GliclassHead& options) {
  if (size % options.attention_heads != 0) {
    throw common::LoadError("config.json: scorer_num_heads: expected a divisor of the size " +
                            std::to_string(size) + ", received " +
                            std::to_string(options.attention_heads));
  }
  return std::make_unique<CrossAttention>(weights, size, options);
}

}  // namespace backend::heads::gliclass
