#include "scheduler/thread_pool.h"

#include <pthread.h>

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace scheduler {
namespace {

/// Time that an idle helper spins before it sleeps. The next layer starts within it, and waking a
/// thread takes as long as computing a layer.
constexpr auto kAwake = std::chrono::microseconds(100);

/// A helper that delays the caller for longer than this has lost its core to another process.
constexpr auto kLate = std::chrono::microseconds(300);

/// Time without helpers after they have cost more time than they saved.
constexpr auto kAlone = std::chrono::milliseconds(100);

/// Upper limit of ThreadPool::benefit_. It tolerates a hypervisor that occasionally takes a core
/// for one or two milliseconds, but not a process that competes for the core.
constexpr auto kMaxBenefit = std::chrono::milliseconds(10);

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

uint32_t parts_left(uint64_t open) { return static_cast<uint32_t>(open); }

}  // namespace

ThreadPool::ThreadPool(int helpers) {
  helpers_.reserve(static_cast<size_t>(helpers));
  try {
    for (int i = 0; i < helpers; ++i) {
      helpers_.emplace_back([this] {
        pthread_setname_np(pthread_self(), "inference help");
        help();
      });
    }
  } catch (...) {
    end();
    throw;
  }
}

ThreadPool::~ThreadPool() { end(); }

void ThreadPool::end() {
  ending_ = true;
  open_ += uint64_t{1} << 32;
  open_.notify_all();
  for (auto& helper : helpers_) helper.join();
}

void ThreadPool::run_parts(uint32_t count, Work work) {
  const auto start = Clock::now();
  if (count < 2 || helpers_.empty() || start < alone_until_) {
    for (uint32_t i = 0; i < count; ++i) work.function(work.context, i);
    return;
  }
  function_.store(work.function, std::memory_order_relaxed);
  context_.store(work.context, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  const uint64_t number = (open_.load(std::memory_order_relaxed) >> 32) + 1;
  open_.store(number << 32 | count, std::memory_order_release);
  open_.notify_all();
  while (run_next_part()) {
  }
  const auto worked = Clock::now();
  await_parts(count);
  update_helper_benefit(worked - start, Clock::now() - worked);
}

/// Returns false if no part is left to claim.
bool ThreadPool::run_next_part() {
  uint64_t open = open_.load(std::memory_order_acquire);
  for (;;) {
    if (parts_left(open) == 0) return false;
    // Read before the exchange: if it succeeds, both belong to the work of the claimed part.
    const Function function = function_.load(std::memory_order_relaxed);
    const void* const context = context_.load(std::memory_order_relaxed);
    if (open_.compare_exchange_weak(open, open - 1, std::memory_order_acq_rel,
                                    std::memory_order_acquire)) {
      function(context, parts_left(open) - 1);
      done_.fetch_add(1, std::memory_order_release);
      return true;
    }
  }
}

void ThreadPool::await_parts(uint32_t count) {
  if (done_.load(std::memory_order_acquire) == count) return;
  const auto start = Clock::now();
  while (done_.load(std::memory_order_acquire) != count) {
    if (Clock::now() - start > kAwake) std::this_thread::yield();
    pause();
  }
}

/// Credits the helpers with half of the time that the caller worked. If the caller waited for them
/// longer than their credit, it works alone for kAlone. Half, because both may have been limited by
/// memory bandwidth, or no helper may have started.
void ThreadPool::update_helper_benefit(Clock::duration worked, Clock::duration waited) {
  benefit_ = std::min<Clock::duration>(benefit_ + worked / 2, kMaxBenefit);
  if (waited < kLate) return;
  benefit_ -= waited;
  if (benefit_ >= Clock::duration::zero()) return;
  benefit_ = Clock::duration::zero();
  alone_until_ = Clock::now() + kAlone;
}

void ThreadPool::help() {
  auto last = Clock::now();
  while (!ending_) {
    const uint64_t open = open_.load(std::memory_order_acquire);
    if (run_next_part()) {
      last = Clock::now();
    } else if (Clock::now() - last < kAwake) {
      for (int i = 0; i < 4; ++i) pause();
    } else if (parts_left(open) == 0 && !ending_) {
      open_.wait(open, std::memory_order_acquire);
      last = Clock::now();
    }
  }
}

}  // namespace scheduler
