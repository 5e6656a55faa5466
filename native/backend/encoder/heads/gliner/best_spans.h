#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "encoder/heads/gliner/scorer.h"

namespace backend::heads::gliner {

/// The spans with the highest scores of those added. A low threshold makes a span of every pair of
/// words and every label: without a limit, they would fill the memory.
class BestSpans {
 public:
  /// Far more than a text has entities.
  static constexpr size_t kMaxSpans = 8192;

  void add(const Span& span) {
    spans_.push_back(span);
    if (spans_.size() == 2 * kMaxSpans) drop_lowest();
  }

  /// Adds the spans of another list, which stays as it is.
  void add(const BestSpans& others) {
    for (const Span& span : others.spans_) add(span);
  }

  /// At most kMaxSpans, in no order.
  std::vector<Span> take();

 private:
  void drop_lowest();

  std::vector<Span> spans_;
};

/// BestSpans of several threads.
class SharedBestSpans {
 public:
  void add(const BestSpans& spans) {
    const std::lock_guard lock(mutex_);
    all_.add(spans);
  }

  /// Once no thread adds spans any more.
  std::vector<Span> take() { return all_.take(); }

 private:
  std::mutex mutex_;
  BestSpans all_;
};

}  // namespace backend::heads::gliner
