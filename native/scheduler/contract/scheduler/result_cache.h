// A cache of model outputs, keyed by a hash of the prepared input.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "scheduler/input.h"

namespace scheduler {

/// LRU cache with a limit in bytes, shared by all models of the process. It stores hashes instead
/// of inputs; each cache draws its own secret key for them. Any thread may call the public
/// functions.
class ResultCache {
 public:
  using Key = std::array<uint64_t, 2>;
  using CachedOutput = std::shared_ptr<const Output>;

  /// A model that uses the cache, with its counters.
  struct Model {
    uint64_t number = 0;
    std::atomic<uint64_t> hits{0};
    std::atomic<uint64_t> misses{0};
    std::atomic<size_t> bytes{0};  ///< of its cached outputs
  };

  /// Result of claim(): the output is cached; or the caller must compute it and then call publish()
  /// or release(); or another thread computes it, and the caller may wait().
  struct Claim {
    CachedOutput output;   ///< null if it is not cached
    bool is_own = false;   ///< the caller must compute the output
    uint64_t changes = 0;  ///< version for wait()
  };

  /// wait_limit: time to wait for another thread's computation before computing the same output.
  explicit ResultCache(size_t max_bytes, std::chrono::milliseconds wait_limit = kWaitLimit);

  /// Registers a model. number: models with the same number share outputs; unset: a number of its
  /// own. A cache has models of one kind only.
  std::shared_ptr<Model> add_model(std::optional<uint64_t> number = std::nullopt);
  /// Drops all outputs of a model, which must have no claims.
  void remove(const Model& model);

  Key key_of(const Model& model, const PreparedInput& input) const;

  /// Returns null if the output is not cached.
  CachedOutput find(const Key& key);

  /// Throws std::bad_alloc.
  Claim claim(const Key& key);
  /// Ends a claim with its output. An output that is too large, or for which memory is missing, is
  /// not cached.
  void publish(Model& model, const Key& key, const Output& output) noexcept;
  /// Ends a claim without an output.
  void release(const Key& key) noexcept;

  /// Waits until any claim has ended since claim() returned. Returns false after wait_limit: the
  /// other thread may hang.
  bool wait(const Claim& claim);

 private:
  static constexpr std::chrono::milliseconds kWaitLimit{1000};

  struct Entry {
    Key key;
    Model* model;
    CachedOutput output;
    size_t bytes;
  };
  using Entries = std::list<Entry>;
  /// Hash for the index: a key is already a hash.
  struct FirstWord {
    size_t operator()(const Key& key) const { return key[0]; }
  };
  /// A null value is a claim.
  using Index = std::unordered_map<Key, std::unique_ptr<Entries::iterator>, FirstWord>;

  CachedOutput lookup(const Key& key);
  void drop(Entries::iterator entry);

  const Key secret_;
  const size_t max_bytes_;
  const std::chrono::milliseconds wait_limit_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t changes_ = 0;
  uint64_t models_ = 0;
  size_t bytes_ = 0;
  Entries entries_;  ///< most recently used first
  Index index_;
};

}  // namespace scheduler
