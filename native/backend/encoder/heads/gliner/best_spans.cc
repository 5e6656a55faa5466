#include "encoder/heads/gliner/best_spans.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace backend::heads::gliner {

std::vector<Span> BestSpans::take() {
  if (spans_.size() > kMaxSpans) drop_lowest();
  return std::move(spans_);
}

/// A total order: the kept spans do not depend on the order in which threads add them.
void BestSpans::drop_lowest() {
  const auto rank = [](const Span& span) {
    return std::tuple(-span.score, span.first, span.last, span.label);
  };
  std::ranges::nth_element(spans_, spans_.begin() + kMaxSpans, {}, rank);
  spans_.resize(kMaxSpans);
}

}  // namespace backend::heads::gliner
