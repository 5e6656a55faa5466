#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <list>
#include <map>
#include <mutex>

#include "backend/model_input.h"

namespace backend::heads::gliner {

/// The vectors of the labels that were used last, by their ids. Thread-safe.
class LabelCache {
 public:
  /// max_labels: at least 1.
  explicit LabelCache(size_t max_labels) : max_labels_(max_labels) {}

  /// The vector of a label; undefined if it is not cached.
  at::Tensor find(const LabelIds& label);

  /// Adds a vector, and removes the one that was not used for the longest time if there are too
  /// many.
  void add(const LabelIds& label, at::Tensor vector);

 private:
  using Order = std::list<const LabelIds*>;  // keys of vectors_, last used first
  struct Entry {
    at::Tensor vector;
    Order::iterator position;
  };

  const size_t max_labels_;
  std::mutex mutex_;
  Order order_;
  std::map<LabelIds, Entry> vectors_;
};

}  // namespace backend::heads::gliner
