// Scores of the spans of a text for each label.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>
#include <vector>

#include "backend/text_head.h"
#include "checkpoint/weights.h"
#include "scheduler/backend.h"

namespace backend::heads::gliner {

/// Words first … last, with a label.
struct Span {
  int64_t first, last, label;
  float score;
};

/// Thread-safe.
class Scorer {
 public:
  virtual ~Scorer() = default;

  /// Spans with a score above the threshold, in the order of gliner. If there are more than
  /// BestSpans::kMaxSpans, those with the highest scores. words: float32 [words, hidden], at least
  /// one. labels: float32 [labels, hidden].
  virtual std::vector<Span> operator()(const at::Tensor& words, const at::Tensor& labels,
                                       float threshold) const = 0;
};

/// One row for each span: first word, last word, label, score.
scheduler::Output to_output(const std::vector<Span>& spans);

/// Markers of the first and last word, for spans of up to max_width words. prefix: of its keys.
/// Throws LoadError.
std::unique_ptr<Scorer> make_marker_scorer(
    const Weights& weights, const GlinerHead& options,
    std::string_view prefix = "span_rep_layer.span_rep_layer");

/// Scores of each word as start, end and inside of a span. Throws LoadError.
std::unique_ptr<Scorer> make_token_scorer(const Weights& weights, const GlinerHead& options);

}  // namespace backend::heads::gliner
