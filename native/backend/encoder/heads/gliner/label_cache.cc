#include "encoder/heads/gliner/label_cache.h"

#include <utility>

namespace backend::heads::gliner {

at::Tensor LabelCache::find(const LabelIds& label) {
  const std::lock_guard lock(mutex_);
  const auto found = vectors_.find(label);
  if (found == vectors_.end()) return {};
  order_.splice(order_.begin(), order_, found->second.position);
  return found->second.vector;
}

void LabelCache::add(const LabelIds& label, at::Tensor vector) {
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = vectors_.try_emplace(label, Entry{std::move(vector), {}});
  if (!is_new) return;  // another thread has added it
  order_.push_front(&entry->first);
  entry->second.position = order_.begin();
  if (vectors_.size() <= max_labels_) return;
  const LabelIds* const oldest = order_.back();
  order_.pop_back();
  vectors_.erase(vectors_.find(*oldest));
}

}  // namespace backend::heads::gliner
