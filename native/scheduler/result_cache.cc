#include "scheduler/result_cache.h"

#include <exception>
#include <iterator>
#include <random>


namespace scheduler {
namespace {

/// Of the two nodes and of what malloc adds to each, beside the numbers.
constexpr size_t kOverhead = 256;

ResultCache::Key draw_secret() {
  std::random_device device;
  const auto word = [&] { return uint64_t{device()} << 32 | device(); };
  return {word(), word()};
}

}  // namespace

ResultCache::ResultCache(size_t max_bytes, std::chrono::milliseconds patience)
    : secret_(draw_secret()), max_bytes_(max_bytes), patience_(patience) {}

std::shared_ptr<ResultCache::Model> ResultCache::add_model() {
  auto model = std::make_shared<Model>();
  const std::lock_guard lock(mutex_);
  model->number = ++models_;
  return model;
}

void ResultCache::remove(const Model& model) {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->model == &model) drop(entry);
    entry = next;
  }
}

ResultCache::Key ResultCache::key_of(const Model& model, const PreparedInput& input) const {
  SipHash128 hash(secret_);
  hash.add(model.number);
  input.add_to(hash);
  return hash.finish();
}

ResultCache::Answer ResultCache::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  return known(key);
}

/// With the lock held.
ResultCache::Answer ResultCache::known(const Key& key) {
  const auto found = index_.find(key);
  if (found == index_.end() || !found->second) return nullptr;
  entries_.splice(entries_.begin(), entries_, *found->second);
  return entries_.front().answer;
}

ResultCache::Claim ResultCache::claim(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (Answer answer = known(key)) return {.known = std::move(answer)};
  return {.known = nullptr, .is_own = index_.try_emplace(key).second, .changes = changes_};
}

void ResultCache::publish(Model& model, const Key& key, const Output& output) noexcept {
  const size_t bytes = kOverhead + output.values.size() * sizeof(float);
  if (bytes > max_bytes_) return release(key);
  try {
    Entries made;
    made.push_back(
        {.key = key, .model = &model, .answer = std::make_shared<Output>(output), .bytes = bytes});
    auto place = std::make_unique<Entries::iterator>(made.begin());
    const std::lock_guard lock(mutex_);
    auto& known = index_[key];
    if (known) return;  // by another who had waited too long
    known = std::move(place);
    entries_.splice(entries_.begin(), made);
    bytes_ += bytes;
    model.bytes += bytes;
    while (bytes_ > max_bytes_) drop(std::prev(entries_.end()));
    ++changes_;
  } catch (const std::exception&) {
    return release(key);
  }
  changed_.notify_all();
}

void ResultCache::release(const Key& key) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found != index_.end() && !found->second) index_.erase(found);
    ++changes_;
  }
  changed_.notify_all();
}

bool ResultCache::wait(const Claim& claim) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience_, [&] { return changes_ != claim.changes; });
}

/// With the lock held.
void ResultCache::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  entry->model->bytes -= entry->bytes;
  index_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace scheduler
