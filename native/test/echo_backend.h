// A backend whose answers can be checked: the output of "17" is {17, number of tokens}.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/engine.h"
#include "kernels/thread_pool.h"

namespace scheduler::test {

/// Texts that are longer can be made to wait in prepare().
inline constexpr size_t kShortText = 16;

/// Tokens of a text: its length. With a stride it is cut into two windows. One that must not be cut
/// is too long. "fail" makes every batch
/// that holds it fail.
class EchoBackend : public Backend {
 public:
  Description description() const override {
    return {.max_length = 512,
            .batching = batching,
            .needs_preparation = needs_preparation,
            .uses_pool = uses_pool};
  }

  Sequence prepare(Input input) const override {
    const Text& asked = std::get<Text>(input);
    const std::string& text = asked.text;
    if (asked.truncation == Truncation::kNone) throw InputTooLong("has too many tokens");
    if (text == "untokenizable") throw BackendError("cannot be tokenized");
    if (text.size() > kShortText) {
      std::unique_lock lock(mutex_);
      const size_t place = ++preparing_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return place <= passing_; });
    }
    if (fails_once_prepared) throw BackendError("cannot be tokenized, as it turned out");
    Sequence sequence;
    sequence.input_ids.assign(text.begin(), text.end());
    if (asked.places) {
      const std::vector<size_t> halves{text.size() / 2, text.size() - text.size() / 2};
      sequence.places = std::make_shared<const TokenPlaces>(
          TokenPlaces{.tokens = {.ids = sequence.input_ids, .types = {}},
                      .offsets = {},
                      .texts = {},
                      .lengths = asked.stride ? halves : std::vector{text.size()}});
    }
    return sequence;
  }

  std::optional<Sequence> prepare_thread(const kernels::LentPool& /*pool*/) override {
    {
      std::unique_lock lock(mutex_);
      most_warming_up_ = std::max(most_warming_up_, ++warming_up_);
      changed_.notify_all();
      changed_.wait(lock, [this] { return !warm_up_is_held_; });
      --warming_up_;
    }
    if (thread_fails) throw BackendError("thread cannot be prepared");
    return std::nullopt;
  }

  std::vector<Output> run(Batch batch, const kernels::LentPool& pool) override {
    {
      std::unique_lock lock(mutex_);
      batch_sizes.push_back(batch.size());
      lent_pools.push_back(&pool);
      if (pool != nullptr) batch_threads.push_back(threads_of(pool));
      ++running_;
      changed_.notify_all();
      const bool asked = std::ranges::any_of(batch, [this](const Sequence* sequence) {
        return !held_text_.empty() && std::ranges::equal(sequence->input_ids, held_text_);
      });
      if (asked || held_) {
        changed_.wait(lock, [this] { return (!held_ && held_text_.empty()) || passes_ > 0; });
        if (passes_ > 0) --passes_;
      }
    }
    std::vector<Output> results;
    for (const auto* const sequence : batch) {
      const std::string text(sequence->input_ids.begin(), sequence->input_ids.end());
      if (text == "fail") throw BackendError("cannot be run");
      if (text == "time out") throw RunTimeout(std::chrono::milliseconds(60'000));
      if (text == "fail oddly") throw 42;  // NOLINT: not derived from std::exception, on purpose
      results.push_back({.values = {std::stof(text), static_cast<float>(text.size())}});
    }
    if (forgetful) results.pop_back();
    return results;
  }

  /// Batches wait inside run() until release().
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  /// Workers wait inside prepare_thread() until it is called with false.
  void hold_warm_up(bool held) {
    const std::lock_guard lock(mutex_);
    warm_up_is_held_ = held;
    changed_.notify_all();
  }
  /// Until a worker is inside prepare_thread().
  void await_warm_up() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return warming_up_ > 0; });
  }
  /// Workers that were inside prepare_thread() at once, at most.
  size_t most_warming_up() {
    const std::lock_guard lock(mutex_);
    return most_warming_up_;
  }
  /// Those with this text alone.
  void hold_text(const std::string& text) {
    const std::lock_guard lock(mutex_);
    held_text_ = text;
  }
  void release() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    held_text_.clear();
    changed_.notify_all();
  }
  /// So many batches, and those after them are held as before.
  void let_run(size_t batches = 1) {
    const std::lock_guard lock(mutex_);
    passes_ += batches;
    changed_.notify_all();
  }
  /// The long texts behind the first `count` wait inside prepare().
  void let_pass(size_t count) {
    const std::lock_guard lock(mutex_);
    passing_ = count;
    changed_.notify_all();
  }
  /// Until the preparation of `count` long texts has begun.
  void await_preparing(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return preparing_ >= count; });
  }
  /// Until `count` batches have begun.
  void await_running(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ >= count; });
  }
  /// Batches that have begun.
  size_t begun() {
    const std::lock_guard lock(mutex_);
    return running_;
  }
  std::vector<size_t> sizes() {
    const std::lock_guard lock(mutex_);
    return batch_sizes;
  }

  /// That could compute each batch, in the order in which they began.
  std::vector<int64_t> threads() {
    const std::lock_guard lock(mutex_);
    return batch_threads;
  }

  /// That may compute each of them now; 0: the worker that had it has no batch any more.
  std::vector<int64_t> threads_now() {
    const std::lock_guard lock(mutex_);
    std::vector<int64_t> threads;
    threads.reserve(lent_pools.size());
    for (const auto* const pool : lent_pools) threads.push_back(threads_of(*pool));
    return threads;
  }

  bool batching = true;
  bool needs_preparation = true;
  bool uses_pool = false;
  bool thread_fails = false;
  bool fails_once_prepared = false;
  bool forgetful = false;  ///< a result less than there are inputs

 private:
  static int64_t threads_of(const kernels::LentPool& lent) {
    const kernels::ThreadPool* const pool = lent;
    return pool != nullptr ? pool->threads() : 0;
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<size_t> batch_sizes;
  std::vector<const kernels::LentPool*> lent_pools;
  std::vector<int64_t> batch_threads;
  mutable size_t preparing_ = 0;
  size_t running_ = 0;
  bool held_ = false;
  std::string held_text_;
  size_t passes_ = 0;
  size_t passing_ = SIZE_MAX;
  bool warm_up_is_held_ = false;
  size_t warming_up_ = 0, most_warming_up_ = 0;
};

/// Collects completions by ticket; a ticket that completes twice is an error.
class Collector {
 public:
  CompletionHandler handler() {
    return [this](Completions completions) {
      const std::lock_guard lock(mutex_);
      for (auto& completion : completions) {
        order_.push_back(completion.ticket);
        if (!ended_.emplace(completion.ticket, completion).second) ++repeated_;
      }
      changed_.notify_all();
    };
  }

  /// The completion of a ticket; waits for it.
  Completion of(uint64_t ticket) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_.contains(ticket); });
    return ended_.at(ticket);
  }
  /// Whether it completes in any time that a machine at work may need.
  bool has(uint64_t ticket) {
    constexpr std::chrono::seconds kLongest{30};
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLongest, [&] { return ended_.contains(ticket); });
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return ended_.size();
  }
  /// The tickets, as they ended.
  std::vector<uint64_t> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }
  size_t repeated() {
    const std::lock_guard lock(mutex_);
    return repeated_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Completion> ended_;
  std::vector<uint64_t> order_;
  size_t repeated_ = 0;
};

inline constexpr auto kNever = Clock::time_point::max();

/// Of one engine alone.
inline std::shared_ptr<Machine> a_machine() { return std::make_shared<Machine>(); }

inline Status submit(Engine& engine, uint64_t ticket, Input input, Clock::time_point deadline) {
  std::vector<Input> inputs;
  inputs.push_back(std::move(input));
  return engine.submit(ticket, std::move(inputs), deadline).status;
}

/// Until so many requests wait, prepared or not.
inline void await_queue(const Engine& engine, size_t requests) {
  while (engine.statistics().queue_requests != requests) std::this_thread::yield();
}

}  // namespace scheduler::test
