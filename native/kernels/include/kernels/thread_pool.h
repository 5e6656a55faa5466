// Several threads on the parts of one piece of work.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace kernels {

/// Helpers for a thread that computes. Nobody waits for a helper that has not come: the caller
/// takes parts like everyone, and helpers take what is left. So a core that another process wants
/// costs the help, not the time. (OpenMP's teams wait for every member at every section.)
class ThreadPool {
 public:
  /// helpers: threads beside the caller's own; they take over its priority.
  /// Throws std::system_error where one cannot be started, and then none is left.
  explicit ThreadPool(int helpers);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  bool has_helpers() const { return !helpers_.empty(); }

  /// The helpers and the caller.
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
  bool take_part();
  void await_parts(uint32_t count);
  void weigh(Clock::duration worked, Clock::duration waited);
  void help();
  void end();

  /// The number of this work (high half) and the parts of it that nobody has taken (low half): in
  /// one number, so that a helper that comes late cannot take a part of other work.
  std::atomic<uint64_t> open_{0};
  std::atomic<uint32_t> done_{0};  ///< parts
  std::atomic<Function> function_{nullptr};
  std::atomic<const void*> context_{nullptr};
  std::atomic<bool> ending_{false};
  // The caller's:
  Clock::duration gain_{};  ///< by help, of late
  Clock::time_point alone_until_;
  std::vector<std::thread> helpers_;
};

/// The pool that helps a thread now, or null. Another thread changes that while the first one
/// computes. A pool that was read may be used for one piece of work.
using LentPool = std::atomic<ThreadPool*>;

}  // namespace kernels
