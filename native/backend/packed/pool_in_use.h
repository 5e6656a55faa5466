// Which threads help the calling thread to compute.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>

#include "scheduler/thread_pool.h"

namespace backend {

/// While it lives, the layers that the calling thread runs share their work with the pool that it
/// is lent, each with the one of its time.
class PoolInUse {
 public:
  explicit PoolInUse(const scheduler::AssignedPool& pool) : before_(lent_) { lent_ = &pool; }
  ~PoolInUse() { lent_ = before_; }
  PoolInUse(const PoolInUse&) = delete;
  PoolInUse& operator=(const PoolInUse&) = delete;

  /// Of the calling thread: a pool that has helpers, or null.
  static scheduler::ThreadPool* current() {
    scheduler::ThreadPool* const pool = lent_ != nullptr ? lent_->load() : nullptr;
    return pool != nullptr && pool->has_helpers() ? pool : nullptr;
  }

 private:
  static inline thread_local constinit const scheduler::AssignedPool* lent_ = nullptr;
  const scheduler::AssignedPool* before_;
};

/// Multiplications (with an addition each) that are worth a part of their own: some microseconds.
constexpr int64_t kShareOfWork = 500'000;

/// So that one that is late keeps the others waiting for a fraction of its share.
constexpr int64_t kPartsOfAThread = 4;

/// Calls part(0) … part(count - 1) with the help of the pool in use. Throws what the first of them
/// that failed has thrown (std::bad_alloc, of a thread's own memory), once all have ended.
template <class Part>
void share_parts(int64_t count, const Part& part) {
  scheduler::ThreadPool* const pool = PoolInUse::current();
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

/// Numbers of rows that are read and written once and are worth a part of their own, as above.
constexpr int64_t kShareOfNumbers = 16'384;

/// Calls some(first, count) for all rows of so many numbers each; in parts where a pool helps.
template <class Some>
void share_rows(int64_t rows, int64_t numbers, const Some& some) {
  const scheduler::ThreadPool* const pool = PoolInUse::current();
  const int64_t most = pool != nullptr ? std::min(rows, kPartsOfAThread * pool->threads()) : 1;
  const int64_t parts = std::max<int64_t>(1, std::min(rows * numbers / kShareOfNumbers, most));
  share_parts(parts, [&](int64_t part) {
    const int64_t first = part * rows / parts;
    some(first, (part + 1) * rows / parts - first);
  });
}

}  // namespace backend
