// Source: gliner, modeling/span_rep.py (SpanMarker, SpanMarkerV0, SpanMarkerV1, SpanMarkerV2).
//
// gliner multiplies the representation of every span with the labels:
//   score = sigmoid((output₂ relu(output₁ relu([start; end; context]) + b₁) + b₂) · label)
// Here output₁ is applied to each word as a start and as an end, and output₂ to each label, which
// is the same number in exact arithmetic: the work for a span is a sum, a ReLU and a product with
// the labels.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "encoder/heads/gliner/best_spans.h"
#include "encoder/heads/gliner/projection.h"
#include "encoder/heads/gliner/scorer.h"
#include "packed/parallel_for.h"
#include "runtime/operator_scope.h"

namespace backend::heads::gliner {
namespace {

/// Width of the projections of start and end, as a multiple of the hidden size.
int64_t inner_size(const GlinerHead& options) {
  return (options.mode == SpanMode::kMarker ? 2 : 4) * options.hidden_size;
}

bool has_context(SpanMode mode) {
  return mode == SpanMode::kMarkerV1 || mode == SpanMode::kMarkerV2;
}

/// The output projection: one linear layer (kMarker) or two.
class OutputProjection {
 public:
  OutputProjection(const Weights& weights, const GlinerHead& options)
      : OutputProjection(weights, options, has_context(options.mode) ? 3 : 2) {}

  /// Part of the first layer for the starts, the ends or the context: relu(x) Wᵀ, and the bias for
  /// the starts; [rows, hidden] → [rows, inner].
  at::Tensor first(size_t part, const at::Tensor& x) const { return parts_[part](at::relu(x)); }

  /// Labels by which the first layer's output is multiplied, and their biases: [labels, inner] and
  /// [labels].
  std::pair<at::Tensor, at::Tensor> fold(const at::Tensor& labels) const {
    if (!second_weight_.defined()) return {labels, at::Tensor()};
    return {at::mm(labels, second_weight_), at::mv(labels, second_bias_)};
  }

  bool has_second_layer() const { return second_weight_.defined(); }

 private:
  OutputProjection(const Weights& weights, const GlinerHead& options, int64_t parts) {
    const int64_t size = options.hidden_size;
    const bool is_single = options.mode == SpanMode::kMarker;
    const int64_t inner = is_single ? size : 4 * size;
    const Weights first = is_single ? weights : weights / "0";
    const at::Tensor weight = first.get("weight", {inner, parts * size});
    const at::Tensor bias = first.get("bias", {inner});
    for (int64_t part = 0; part < parts; ++part) {
      parts_.emplace_back(weight.narrow(1, part * size, size).contiguous(),
                          part == 0 ? bias : at::Tensor(), ComputeTypes());
    }
    if (is_single) return;
    second_weight_ = (weights / "3").get("weight", {size, inner});
    second_bias_ = (weights / "3").get("bias", {size});
  }

  std::vector<nn::Linear> parts_;
  at::Tensor second_weight_, second_bias_;
};

class MarkerScorer final : public Scorer {
 public:
  MarkerScorer(const Weights& weights, const GlinerHead& options)
      : options_(options),
        start_(weights / "project_start", options.hidden_size, inner_size(options),
               options.hidden_size),
        end_(weights / "project_end", options.hidden_size, inner_size(options),
             options.hidden_size),
        output_(weights / "out_project", options) {
    if (options.mode == SpanMode::kMarkerV1) {
      // gliner does not apply this layer: it projects no mean of the words.
      for (const char* key : {"0.weight", "0.bias", "3.weight", "3.bias"}) {
        (weights / "project_first").ignore(key);
      }
    }
    if (options.mode == SpanMode::kMarkerV2) {
      context_.emplace(weights / "project_context", options.hidden_size, inner_size(options),
                       options.hidden_size);
    }
  }

  std::vector<Span> operator()(const at::Tensor& words, const at::Tensor& labels,
                               float threshold) const override {
    at::Tensor starts = output_.first(0, start_(words));
    const at::Tensor ends = output_.first(1, end_(words));
    if (has_context(options_.mode)) starts += output_.first(2, context_of(words));
    const auto [folded, biases] = output_.fold(labels);
    const at::Tensor columns = folded.t().contiguous();
    const int64_t widths = std::min(options_.max_width, words.size(0));
    SharedBestSpans found;
    parallel_for(widths, [&](int64_t width) {
      const OperatorScope scope;
      const int64_t count = words.size(0) - width;
      at::Tensor spans = starts.narrow(0, 0, count) + ends.narrow(0, width, count);
      if (output_.has_second_layer()) spans.relu_();
      at::Tensor logits = at::mm(spans, columns);
      if (biases.defined()) logits += biases;
      found.add(spans_above(threshold, at::sigmoid(logits), width));
    });
    std::vector<Span> spans = found.take();
    std::ranges::sort(
        spans, {}, [](const Span& span) { return std::tuple(span.first, span.last, span.label); });
    return spans;
  }

 private:
  /// [1, hidden]: the mean of the words, or the last word.
  at::Tensor context_of(const at::Tensor& words) const {
    if (context_) return (*context_)(words.narrow(0, words.size(0) - 1, 1));
    return at::mean(words, 0, /*keepdim=*/true);
  }

  /// scores: [starts, labels]
  static BestSpans spans_above(float threshold, const at::Tensor& scores, int64_t width) {
    BestSpans spans;
    const float* score = scores.const_data_ptr<float>();
    for (int64_t first = 0; first < scores.size(0); ++first) {
      for (int64_t label = 0; label < scores.size(1); ++label, ++score) {
        if (*score > threshold) spans.add(Span{first, first + width, label, *score});
      }
    }
    return spans;
  }

  GlinerHead options_;
  Projection start_, end_;
  OutputProjection output_;
  std::optional<Projection> context_;
};

}  // namespace

scheduler::Output to_output(const std::vector<Span>& spans) {
  scheduler::Output output{.values = {}, .rows = spans.size()};
  output.values.reserve(4 * spans.size());
  for (const auto& [first, last, label, score] : spans) {
    for (const int64_t index : {first, last, label}) {
      output.values.push_back(static_cast<float>(index));
    }
    output.values.push_back(score);
  }
  return output;
}

std::unique_ptr<Scorer> make_marker_scorer(const Weights& weights, const GlinerHead& options,
                                           std::string_view prefix) {
  return std::make_unique<MarkerScorer>(weights / prefix, options);
}

}  // namespace backend::heads::gliner
