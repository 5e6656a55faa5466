// Source: gliner, modeling/scorers.py (Scorer) and decoding/decoder.py (TokenDecoder).
#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "encoder/heads/gliner/best_spans.h"
#include "encoder/heads/gliner/scorer.h"
#include "encoder/nn/linear.h"
#include "packed/parallel_for.h"
#include "runtime/operator_scope.h"

namespace backend::heads::gliner {
namespace {

/// Columns of a word's scores for a label.
enum Column { kStart, kEnd, kInside, kColumns };

/// Scores of the words for one label: [words, kColumns].
class WordScores {
 public:
  explicit WordScores(at::Tensor scores)
      : scores_(std::move(scores)), data_(scores_.const_data_ptr<float>()) {}

  int64_t words() const { return scores_.size(0); }
  float at(int64_t word, Column column) const { return data_[word * kColumns + column]; }

 private:
  at::Tensor scores_;
  const float* data_;
};

/// Spans whose first word is a start, whose last word is an end, and whose words are all inside.
/// Their score is the lowest of these scores.
BestSpans find_spans(const WordScores& scores, int64_t label, float threshold) {
  BestSpans spans;
  for (int64_t first = 0; first < scores.words(); ++first) {
    float lowest = scores.at(first, kStart);
    if (!(lowest > threshold)) continue;
    for (int64_t last = first; last < scores.words(); ++last) {
      if (scores.at(last, kInside) < threshold) break;
      lowest = std::min(lowest, scores.at(last, kInside));
      const float end = scores.at(last, kEnd);
      if (end > threshold) spans.add(Span{first, last, label, std::min(lowest, end)});
    }
  }
  return spans;
}

/// The first layer of the output, W₁ [word₀; label₀; word₁ × label₁], is applied to its parts.
class TokenScorer final : public Scorer {
 public:
  TokenScorer(const Weights& weights, const GlinerHead& options)
      : size_(options.hidden_size),
        words_((weights / "proj_token").in_float32(), size_, 2 * size_),
        labels_((weights / "proj_label").in_float32(), size_, 2 * size_),
        out_((weights / "out_mlp.3").in_float32(), 4 * size_, kColumns) {
    const Weights first = weights / "out_mlp.0";
    const at::Tensor weight = first.get("weight", {4 * size_, 3 * size_});
    const auto part = [&](int64_t index) {
      return weight.narrow(1, index * size_, size_).contiguous();
    };
    of_word_ = part(0);
    of_label_ = part(1);
    of_product_ = part(2);
    bias_ = first.get("bias", {4 * size_});
  }

  std::vector<Span> operator()(const at::Tensor& words, const at::Tensor& labels,
                               float threshold) const override {
    const at::Tensor word_parts = words_(words), label_parts = labels_(labels);
    const at::Tensor of_words = at::linear(word_parts.narrow(1, 0, size_), of_word_, bias_);
    const at::Tensor of_labels = at::linear(label_parts.narrow(1, 0, size_), of_label_);
    const at::Tensor factors = word_parts.narrow(1, size_, size_);
    SharedBestSpans found;
    parallel_for(labels.size(0), [&](int64_t label) {
      const OperatorScope scope;
      // The factors of the label are folded into the weight: W (word₁ × label₁).
      const at::Tensor folded = of_product_ * label_parts[label].narrow(0, size_, size_);
      at::Tensor inner = at::linear(factors, folded, of_labels[label]);
      inner += of_words;
      const WordScores scores(at::sigmoid(out_(inner.relu_())).contiguous());
      found.add(find_spans(scores, label, threshold));
    });
    std::vector<Span> all = found.take();
    // gliner: by first word and its label, then by last word.
    std::ranges::sort(
        all, {}, [](const Span& span) { return std::tuple(span.first, span.label, span.last); });
    return all;
  }

 private:
  int64_t size_;
  nn::Linear words_, labels_, out_;
  at::Tensor of_word_, of_label_, of_product_, bias_;
};

}  // namespace

std::unique_ptr<Scorer> make_token_scorer(const Weights& weights, const GlinerHead& options) {
  return std::make_unique<TokenScorer>(weights / "scorer", options);
}

}  // namespace backend::heads::gliner
