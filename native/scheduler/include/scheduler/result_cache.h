// Answers that models have given, for inputs that are equal to what they read.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "scheduler/input.h"

namespace scheduler {

/// One for all models of a process, bounded in bytes; what was asked for longest ago goes first. It
/// holds no input, but a hash of what the model reads of it, with a key that each cache draws for
/// itself. All public functions may be called from any thread.
class ResultCache {
 public:
  using Key = std::array<uint64_t, 2>;
  using Answer = std::shared_ptr<const Output>;

  /// A model, as the cache knows it.
  struct Model {
    uint64_t number = 0;
    std::atomic<uint64_t> hits{0};
    std::atomic<uint64_t> misses{0};
    std::atomic<size_t> bytes{0};  ///< of its answers that are kept
  };

  /// What is to be done about an input: nothing, its answer is known; compute it, and then
  /// publish() or release(); or wait for another who does.
  struct Claim {
    Answer known;
    bool is_own = false;
    uint64_t changes = 0;  ///< for wait()
  };

  /// patience: how long who computes may take until another computes the same.
  explicit ResultCache(size_t max_bytes, std::chrono::milliseconds patience = kPatience);

  /// A model that no other has been.
  std::shared_ptr<Model> add_model();
  /// Drops all of its answers. It must have no claims.
  void remove(const Model& model);

  Key key_of(const Model& model, const PreparedInput& input) const;

  /// Null: it is not known.
  Answer find(const Key& key);

  /// Throws std::bad_alloc.
  Claim claim(const Key& key);
  /// The answer to what was claimed. Where there is no memory or no room for it, it is not kept.
  void publish(Model& model, const Key& key, const Output& output) noexcept;
  /// There is no answer to what was claimed.
  void release(const Key& key) noexcept;

  /// Until something was published or released since the claim. False: the patience is over; who
  /// computes may never come back.
  bool wait(const Claim& claim);

 private:
  static constexpr std::chrono::milliseconds kPatience{1000};

  struct Entry {
    Key key;
    Model* model;
    Answer answer;
    size_t bytes;
  };
  using Entries = std::list<Entry>;
  /// A key was made by a hash.
  struct FirstWord {
    size_t operator()(const Key& key) const { return key[0]; }
  };
  /// Null: it is being computed.
  using Index = std::unordered_map<Key, std::unique_ptr<Entries::iterator>, FirstWord>;

  Answer known(const Key& key);
  void drop(Entries::iterator entry);

  const Key secret_;
  const size_t max_bytes_;
  const std::chrono::milliseconds patience_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t changes_ = 0;
  uint64_t models_ = 0;
  size_t bytes_ = 0;
  Entries entries_;  ///< asked for last: first
  Index index_;
};

}  // namespace scheduler
