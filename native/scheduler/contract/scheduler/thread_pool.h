// A pool of helper threads that share one piece of work.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace scheduler {

/// Helper threads for a thread that computes. The caller takes parts of the work like every helper
/// and never waits for a helper that has not started a part. If another process occupies a core,
/// its helper contributes nothing, but causes no delay. (In OpenMP every thread of the team must
/// reach every barrier.)
class ThreadPool {
 public:
  /// helpers: threads in addition to the caller; they inherit the caller's priority.
  /// Throws std::system_error if a thread cannot be started; then no helper is left.
  explicit ThreadPool(int helpers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  bool has_helpers() const { return !helpers_.empty(); }

  /// Number of threads, including the caller.
  int64_t threads() const { return static_cast<int64_t>(helpers_.size()) + 1; }

  /// Calls part(0) … part(count - 1), each once, on any thread, and returns when all have returned.
  /// One caller at a time. part must not throw.
  template <class Part>
  void run(uint32_t count, const Part& part) {
    static_assert(std::is_nothrow_invocable_v<const Part&, uint32_t>);
    run_parts(count, {[](const void* context, uint32_t index) noexcept {
                        (*static_cast<const Part*>(context))(index);
                      },
                      &part});
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Function = void (*)(const void* context, uint32_t index) noexcept;
  struct Work {
    Function function;
    const void* context;
  };

  void run_parts(uint32_t count, Work work);
  bool run_next_part();
  void await_parts(uint32_t count);
  void update_helper_benefit(Clock::duration worked, Clock::duration waited);
  void help();
  void end();

  /// Sequence number of the current work (high half) and number of its unclaimed parts (low half).
  /// Both are in one atomic, so that a late helper cannot claim a part of the next work.
  std::atomic<uint64_t> open_{0};
  std::atomic<uint32_t> done_{0};  ///< parts that have returned
  std::atomic<Function> function_{nullptr};
  std::atomic<const void*> context_{nullptr};
  std::atomic<bool> ending_{false};
  // Only the caller uses these:
  Clock::duration benefit_{};  ///< recent time that helpers saved
  Clock::time_point alone_until_;
  std::vector<std::thread> helpers_;
};

/// The pool assigned to a worker now, or null. The scheduler may change it while the worker
/// computes. A pool that was read stays valid for one call of ThreadPool::run().
using AssignedPool = std::atomic<ThreadPool*>;

}  // namespace scheduler
