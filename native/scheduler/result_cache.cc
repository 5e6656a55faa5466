#include "scheduler/result_cache.h"

#include <exception>
#include <iterator>
#include <random>

namespace scheduler {
namespace {

/// Size of an entry without its values: two nodes with the overhead of malloc.
constexpr size_t kOverhead = 256;

ResultCache::Key draw_secret() {
  std::random_device device;
  const auto word = [&] { return uint64_t{device()} << 32 | device(); };
  return {word(), word()};
}

}  // namespace

ResultCache::ResultCache(size_t max_bytes, std::chrono::milliseconds wait_limit)
    : secret_(draw_secret()), max_bytes_(max_bytes), wait_limit_(wait_limit) {}

std::shared_ptr<ResultCache::Model> ResultCache::add_model(std::optional<uint64_t> number) {
  auto model = std::make_shared<Model>();
  const std::lock_guard lock(mutex_);
  model->number = number ? *number : ++models_;
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

ResultCache::CachedOutput ResultCache::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  return lookup(key);
}

/// Called with the lock held.
ResultCache::CachedOutput ResultCache::lookup(const Key& key) {
  const auto found = index_.find(key);
  if (found == index_.end() || !found->second) return nullptr;
  entries_.splice(entries_.begin(), entries_, *found->second);
  return entries_.front().output;
}

ResultCache::Claim ResultCache::claim(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (CachedOutput output = lookup(key)) return {.output = std::move(output)};
  return {.output = nullptr, .is_own = index_.try_emplace(key).second, .changes = changes_};
}

void ResultCache::publish(Model& model, const Key& key, const Output& output) noexcept {
  const size_t bytes = kOverhead + output.values.size() * sizeof(float);
  if (bytes > max_bytes_) return release(key);
  try {
    Entries made;
    made.push_back(
        {.key = key, .model = &model, .output = std::make_shared<Output>(output), .bytes = bytes});
    auto position = std::make_unique<Entries::iterator>(made.begin());
    const std::lock_guard lock(mutex_);
    auto& entry = index_[key];
    if (entry) return;  // another thread has published it after its wait limit
    entry = std::move(position);
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
  return changed_.wait_for(lock, wait_limit_, [&] { return changes_ != claim.changes; });
}

/// Called with the lock held.
void ResultCache::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  entry->model->bytes -= entry->bytes;
  index_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace scheduler
