// GLiClass: logits of the labels of a request.
// Source: gliclass, model.py (GLiClassUniEncoder), layers.py (FeaturesProjector).
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "encoder/heads/gliclass/scorer.h"
#include "encoder/heads/gliclass/vectors.h"
#include "encoder/heads/head.h"
#include "encoder/heads/marker_rows.h"
#include "encoder/nn/lstm.h"

namespace backend::heads {
namespace {

using gliclass::Scorer;
using gliclass::TextRows;
using gliclass::TextsAndLabels;

/// Added to the norm of a vector, by which the vector is divided.
constexpr float kNormEpsilon = 1e-8F;

class Projector {
 public:
  Projector(const Weights& weights, int64_t size, int64_t inner, nn::Activation activation)
      : activation_(activation),
        first_(weights / "linear_1", size, inner),
        second_(weights / "linear_2", inner, size) {}

  /// [rows, size] → [rows, size]
  at::Tensor operator()(const at::Tensor& input) const {
    return second_(first_(input, activation_));
  }

 private:
  nn::Activation activation_;
  nn::Linear first_, second_;
};

/// Divides each row by its L2 norm.
at::Tensor normalized(const at::Tensor& input) {
  at::Tensor rows = input.contiguous();
  const int64_t size = rows.size(1);
  auto* row = rows.mutable_data_ptr<float>();
  for (int64_t i = 0; i < rows.size(0); ++i, row += size) {
    const float norm = std::sqrt(gliclass::dot(row, row, size)) + kNormEpsilon;
    for (int64_t k = 0; k < size; ++k) row[k] /= norm;
  }
  return rows;
}

std::unique_ptr<Scorer> make_scorer(const Weights& weights, const GliclassHead& options) {
  const int64_t size = options.hidden_size;
  switch (options.scorer) {
    case LabelScorer::kDot:
      return gliclass::make_dot_scorer();
    case LabelScorer::kWeightedDot:
      return gliclass::make_weighted_dot_scorer(weights, size);
    case LabelScorer::kMlp:
      return gliclass::make_mlp_scorer(weights, size);
    case LabelScorer::kHopfield:
      return gliclass::make_hopfield_scorer(weights, size);
    case LabelScorer::kCrossAttention:
      return gliclass::make_cross_attention_scorer(weights, size, options);
  }
  return nullptr;
}

/// Scorers and the LSTM have the size of config.json, and read vectors of the encoder's size.
void require_equal_sizes(const GliclassHead& options, int64_t encoder_size) {
  if (options.hidden_size == encoder_size) return;
  if (options.scorer == LabelScorer::kDot && !options.has_lstm) return;
  throw common::LoadError("config.json: hidden_size: expected " + std::to_string(encoder_size) +
                          ", the size of the encoder, received " +
                          std::to_string(options.hidden_size));
}

/// Its layers are small and compute in float32.
class Gliclass final : public Head {
 public:
  Gliclass(const GliclassHead& options, const HeadSource& source)
      : options_(options),
        text_projector_(projector(source, "text_projector")),
        label_projector_(projector(source, "classes_projector")) {
    require_equal_sizes(options, source.hidden_size);
    const Weights model = weights_of(source);
    scorer_ = make_scorer(model / "scorer", options);
    if (options.has_lstm) lstm_.emplace(model / "lstm.lstm", options.hidden_size, 1);
    if (options.normalizes) {
      logit_scale_ = model.get("logit_scale", {}).item<float>();
    } else {
      model.ignore("logit_scale");
    }
  }

  nn::OutputTokens input_tokens() const override { return nn::OutputTokens::kAllTokens; }
  size_t question_types() const override { return 1; }
  int64_t columns() const override { return 1; }

  /// The states of all tokens: outputs() needs the markers.
  at::Tensor operator()(const at::Tensor& hidden, const nn::PackedBatch& /*batch*/) const override {
    return hidden;
  }

  std::vector<scheduler::Output> outputs(const at::Tensor& hidden, const nn::PackedBatch& packed,
                                         Batch sequences) const override {
    TextsAndLabels input;
    for (const size_t index : packed.order) {
      input.label_counts.push_back(static_cast<int64_t>(sequences[index]->markers.size()) - 1);
    }
    const at::Tensor states = gliclass::label_states(hidden, packed, sequences, options_);
    if (states.size(0) == 0) return split_rows(states, input.label_counts, packed);
    input.labels = label_projector_(states);
    add_texts(hidden, gliclass::text_rows(packed, sequences, options_.text_from_separator), input);
    if (options_.normalizes) {
      input.texts = normalized(input.texts);
      input.labels = normalized(input.labels);
    }
    return split_rows((*scorer_)(input)*logit_scale_, input.label_counts, packed);
  }

 private:
  static Weights weights_of(const HeadSource& source) {
    return (source.weights / "model").in_float32();
  }

  Projector projector(const HeadSource& source, const char* name) const {
    const nn::Activation activation =
        nn::activation_by_name(options_.activation, "projector_hidden_act");
    return {weights_of(source) / name, source.hidden_size, options_.hidden_size, activation};
  }

  /// Sets `texts` and `text_rows`.
  void add_texts(const at::Tensor& hidden, const std::vector<TextRows>& texts,
                 TextsAndLabels& input) const {
    std::vector<at::Tensor> parts;
    std::vector<int64_t> counts;
    for (const auto& [first, count, _] : texts) {
      parts.push_back(hidden.narrow(0, first, count));
      counts.push_back(count);
    }
    at::Tensor states = at::cat(parts);
    if (lstm_) states = (*lstm_)(states, counts);
    const bool pools = options_.pooling != TextPooling::kNone;
    if (pools) {
      const bool has_zeros = options_.text_from_separator && !lstm_;
      states = gliclass::pool_texts(options_.pooling, states, texts, has_zeros);
    }
    input.texts = text_projector_(states);
    input.text_rows = pools ? std::vector<int64_t>(texts.size(), 1) : counts;
  }

  GliclassHead options_;
  Projector text_projector_, label_projector_;
  std::unique_ptr<Scorer> scorer_;
  std::optional<nn::Lstm> lstm_;
  float logit_scale_ = 1;  ///< of the scores
};

}  // namespace

std::unique_ptr<Head> make(const GliclassHead& options, const HeadSource& source) {
  return std::make_unique<Gliclass>(options, source);
}

}  // namespace backend::heads
