// Scorers that compare a pooled text with each label alone.
// Source: gliclass, scorers.py (ScorerDot, ScorerWeightedDot, MLPScorer).
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>

#include "encoder/heads/gliclass/mlp.h"
#include "encoder/heads/gliclass/scorer.h"
#include "encoder/heads/marker_rows.h"

namespace backend::heads::gliclass {
namespace {

/// Size of the hidden layer. scorer_mlp_hidden_size of config.json does not change it.
constexpr int64_t kMlpSize = 256;

at::Tensor relu(const at::Tensor& x) { return at::relu(x); }

class Dot final : public Scorer {
 public:
  at::Tensor operator()(const TextsAndLabels& input) const override {
    const at::Tensor texts = input.texts.contiguous(), labels = input.labels.contiguous();
    const int64_t size = texts.size(1);
    at::Tensor scores = at::empty({labels.size(0), 1}, labels.options());
    const auto* text = texts.const_data_ptr<float>();
    const auto* label = labels.const_data_ptr<float>();
    auto* score = scores.mutable_data_ptr<float>();
    for (const int64_t count : input.label_counts) {
      for (int64_t i = 0; i < count; ++i, label += size) *score++ = dot(text, label, size);
      text += size;
    }
    return scores;
  }
};

class WeightedDot final : public Scorer {
 public:
  WeightedDot(const Weights& weights, int64_t size)
      : size_(size),
        text_(weights / "proj_text", size, 2 * size),
        label_(weights / "proj_label", size, 2 * size),
        inner_(weights / "out_mlp.0", 3 * size, 4 * size),
        output_(weights / "out_mlp.3", 4 * size, 1) {}

  at::Tensor operator()(const TextsAndLabels& input) const override {
    const at::Tensor text = text_(texts_of_labels(input)), label = label_(input.labels);
    const auto half = [&](const at::Tensor& both, int64_t index) {
      return both.narrow(1, index * size_, size_);
    };
    const at::Tensor joined =
        at::cat({half(text, 0), half(label, 0), half(text, 1) * half(label, 1)}, 1);
    return output_(inner_(joined, relu));
  }

 private:
  int64_t size_;
  nn::Linear text_, label_, inner_, output_;
};

class MlpScorer final : public Scorer {
 public:
  MlpScorer(const Weights& weights, int64_t size)
      : mlp_(weights / "mlp", 2 * size, kMlpSize, relu) {}

  at::Tensor operator()(const TextsAndLabels& input) const override {
    return mlp_(at::cat({texts_of_labels(input), input.labels}, 1));
  }

 private:
  Mlp mlp_;
};

}  // namespace

float dot(const float* a, const float* b, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return static_cast<float>(sum);
}

at::Tensor texts_of_labels(const TextsAndLabels& input) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < input.label_counts.size(); ++i) {
    rows.insert(rows.end(), static_cast<size_t>(input.label_counts[i]), static_cast<int64_t>(i));
  }
  return gather_rows(input.texts, rows);
}

std::unique_ptr<Scorer> make_dot_scorer() { return std::make_unique<Dot>(); }

std::unique_ptr<Scorer> make_weighted_dot_scorer(const Weights& weights, int64_t size) {
  return std::make_unique<WeightedDot>(weights, size);
}

std::unique_ptr<Scorer> make_mlp_scorer(const Weights& weights, int64_t size) {
  return std::make_unique<MlpScorer>(weights, size);
}

}  // namespace backend::heads::gliclass
