// A backend for tests: the output of "17" is {17, number of tokens}.
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

#include "scheduler/model_queue.h"
#include "scheduler/thread_pool.h"
#include "test_inputs.h"

namespace scheduler::test {

/// Length limit; longer texts can be blocked in prepare().
inline constexpr size_t kShortText = 16;

/// Returns the number that a text spells and its number of characters. The text "fail" makes every
/// batch that contains it fail.
class EchoBackend : public Backend {
 public:
  Description description() const override {
    return {.max_length = 512,
            .batching = batching,
            .needs_preparation = needs_preparation,
            .uses_pool = uses_pool};
  }

  PreparedPtr prepare(InputPtr input) const override {
    const Text& asked = text_of(input);
    const std::string& text = asked.text;
    if (asked.must_fit) throw InputTooLong("has too many tokens");
    if (text == "second untokenizable") {
      BackendError error("cannot be tokenized");
      error.element = 1;
      throw error;
    }
    if (text == "untokenizable") throw BackendError("cannot be tokenized");
    if (text.size() > kShortText) {
      std::unique_lock lock(mutex_);
      const size_t place = ++preparing_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return place <= passing_; });
    }
    if (fails_once_prepared) throw BackendError("cannot be tokenized, as it turned out");
    return std::make_shared<Characters>(text, asked.needs_run);
  }

  PreparedPtr prepare_thread(const AssignedPool& /*pool*/) override {
    {
      std::unique_lock lock(mutex_);
      most_warming_up_ = std::max(most_warming_up_, ++warming_up_);
      changed_.notify_all();
      changed_.wait(lock, [this] { return !warm_up_is_held_; });
      --warming_up_;
    }
    if (thread_fails) throw BackendError("thread cannot be prepared");
    return nullptr;
  }

  std::vector<Output> run(Batch batch, const scheduler::AssignedPool& pool) override {
    {
      std::unique_lock lock(mutex_);
      batch_sizes.push_back(batch.size());
      lent_pools.push_back(&pool);
      if (pool != nullptr) batch_threads.push_back(threads_of(pool));
      ++running_;
      changed_.notify_all();
      const bool asked = std::ranges::any_of(batch, [this](const PreparedInput* input) {
        return !held_text_.empty() && text_of(input) == held_text_;
      });
      if (asked || held_) {
        changed_.wait(lock, [this] { return (!held_ && held_text_.empty()) || passes_ > 0; });
        if (passes_ > 0) --passes_;
      }
    }
    std::vector<Output> results;
    for (const auto* const input : batch) {
      const std::string& text = text_of(input);
      if (text == "fail") throw BackendError("cannot be run");
      if (text == "time out") throw RunTimeout(std::chrono::milliseconds(60'000));
      if (text == "fail oddly") throw 42;  // NOLINT: not derived from std::exception, on purpose
      results.push_back({.values = {std::stof(text), static_cast<float>(text.size())}});
    }
    if (forgetful) results.pop_back();
    return results;
  }

  /// Blocks batches inside run() until release().
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  /// Blocks workers inside prepare_thread() until a call with false.
  void hold_warm_up(bool held) {
    const std::lock_guard lock(mutex_);
    warm_up_is_held_ = held;
    changed_.notify_all();
  }
  /// Waits until a worker is inside prepare_thread().
  void await_warm_up() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return warming_up_ > 0; });
  }
  /// Maximum number of workers that were inside prepare_thread() at the same time.
  size_t most_warming_up() {
    const std::lock_guard lock(mutex_);
    return most_warming_up_;
  }
  /// Blocks only batches that contain this text.
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
  /// Unblocks a number of batches.
  void let_run(size_t batches = 1) {
    const std::lock_guard lock(mutex_);
    passes_ += batches;
    changed_.notify_all();
  }
  /// Blocks long texts inside prepare(), except for the first `count`.
  void let_pass(size_t count) {
    const std::lock_guard lock(mutex_);
    passing_ = count;
    changed_.notify_all();
  }
  /// Waits until `count` long texts have entered prepare().
  void await_preparing(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return preparing_ >= count; });
  }
  /// Waits until `count` batches have started.
  void await_running(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ >= count; });
  }
  /// Number of long texts that have entered prepare().
  size_t preparing() {
    const std::lock_guard lock(mutex_);
    return preparing_;
  }
  /// Number of batches that have started.
  size_t begun() {
    const std::lock_guard lock(mutex_);
    return running_;
  }
  std::vector<size_t> sizes() {
    const std::lock_guard lock(mutex_);
    return batch_sizes;
  }

  /// Number of threads of each batch at its start, in order.
  std::vector<int64_t> threads() {
    const std::lock_guard lock(mutex_);
    return batch_threads;
  }

  /// Current number of threads of the worker of each batch; 0: the worker has no batch.
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
  bool forgetful = false;  ///< returns one output too few

 private:
  static int64_t threads_of(const scheduler::AssignedPool& lent) {
    const scheduler::ThreadPool* const pool = lent;
    return pool != nullptr ? pool->threads() : 0;
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<size_t> batch_sizes;
  std::vector<const scheduler::AssignedPool*> lent_pools;
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

  /// Waits for the completion of a ticket.
  Completion of(uint64_t ticket) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_.contains(ticket); });
    return ended_.at(ticket);
  }
  /// Waits up to 30 s for the completion of a ticket.
  bool has(uint64_t ticket) {
    constexpr std::chrono::seconds kLongest{30};
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLongest, [&] { return ended_.contains(ticket); });
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return ended_.size();
  }
  /// Tickets in the order of completion.
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

/// A scheduler for one queue.
inline std::shared_ptr<Scheduler> a_scheduler() { return std::make_shared<Scheduler>(); }

inline Status submit(ModelQueue& queue, uint64_t ticket, InputPtr input,
                     Clock::time_point deadline) {
  std::vector<InputPtr> inputs;
  inputs.push_back(std::move(input));
  return queue.submit(ticket, std::move(inputs), deadline).status;
}

inline Status submit(ModelQueue& queue, uint64_t ticket, Text text, Clock::time_point deadline) {
  return submit(queue, ticket, input_of(std::move(text)), deadline);
}

/// Waits until the queue has this number of requests.
inline void await_queue(const ModelQueue& queue, size_t requests) {
  while (queue.statistics().queue_requests != requests) std::this_thread::yield();
}

}  // namespace scheduler::test
