// Parallel loops on the thread pool of the current run.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "scheduler/thread_pool.h"

namespace backend {

/// Assigns a thread pool to the calling thread for the lifetime of this object. It is thread-local,
/// because LibTorch's interpreter calls our operators without an argument for it. The scheduler may
/// change the assigned pool between loops.
class ScopedThreadPool {
 public:
  explicit ScopedThreadPool(const scheduler::AssignedPool& pool) : previous_(assigned_) {
    assigned_ = &pool;
  }
  ~ScopedThreadPool() { assigned_ = previous_; }
  ScopedThreadPool(const ScopedThreadPool&) = delete;
  ScopedThreadPool& operator=(const ScopedThreadPool&) = delete;

  /// Pool of the calling thread; null if it has none, or one without helper threads.
  static scheduler::ThreadPool* current() {
    scheduler::ThreadPool* const pool = assigned_ != nullptr ? assigned_->load() : nullptr;
    return pool != nullptr && pool->has_helpers() ? pool : nullptr;
  }

 private:
  static inline thread_local constinit const scheduler::AssignedPool* assigned_ = nullptr;
  const scheduler::AssignedPool* previous_;
};

/// Minimum work of a part, in multiply-adds: some microseconds.
constexpr int64_t kMinMultiplyAddsPerPart = 500'000;

/// Parts for each thread. Several, so that a late thread delays the others only by a fraction of
/// its share.
constexpr int64_t kPartsPerThread = 4;

/// Calls part(0) … part(count - 1), in parallel on the current thread pool. Rethrows the first
/// exception (std::bad_alloc of a thread's scratch memory) after all parts have ended.
template <class Part>
void parallel_for(int64_t count, const Part& part) {
  scheduler::ThreadPool* const pool = ScopedThreadPool::current();
  if (pool == nullptr || count <= 1) {
    for (int64_t index = 0; index < count; ++index) part(index);
    return;
  }
  std::atomic_flag has_failed;
  std::exception_ptr failure;
  pool->run(static_cast<uint32_t>(count), [&](uint32_t index) noexcept {
    try {
      part(index);
    } catch (...) {
      if (!has_failed.test_and_set()) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

/// Calls range(first, count) for ranges that cover all items, in parallel. useful_parts: more parts
/// would take longer.
template <class Range>
void parallel_for_ranges(int64_t items, int64_t useful_parts, const Range& range) {
  const scheduler::ThreadPool* const pool = ScopedThreadPool::current();
  const int64_t most = pool != nullptr ? std::min(items, kPartsPerThread * pool->threads()) : 1;
  const int64_t parts = std::max<int64_t>(1, std::min(useful_parts, most));
  parallel_for(parts, [&](int64_t part) {
    const int64_t first = part * items / parts;
    range(first, (part + 1) * items / parts - first);
  });
}

/// Minimum elements of a part of rows that are read and written once.
constexpr int64_t kMinElementsPerPart = 16'384;

/// Calls range(first, count) for ranges that cover all rows, in parallel. `numbers`: elements of a
/// row.
template <class Range>
void parallel_for_rows(int64_t rows, int64_t numbers, const Range& range) {
  parallel_for_ranges(rows, rows * numbers / kMinElementsPerPart, range);
}

}  // namespace backend
