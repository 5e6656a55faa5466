#include "kernels/thread_pool.h"

#include <pthread.h>

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kernels {
namespace {

/// A helper stays awake for this long: the next layer's work comes within it. Waking one takes as
/// long as a layer.
constexpr auto kAwake = std::chrono::microseconds(100);

/// A helper that keeps the caller waiting for this long had its core taken away.
constexpr auto kLate = std::chrono::microseconds(300);

/// Helpers that cost more than they gain are not asked for this long.
constexpr auto kAlone = std::chrono::milliseconds(100);

/// Of what helpers have gained, so much counts: a hypervisor takes a core for a millisecond or two
/// now and then, which does not matter beside it; a process that wants the core takes more.
constexpr auto kMaxGain = std::chrono::milliseconds(10);

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
  while (take_part()) {
  }
  const auto worked = Clock::now();
  await_parts(count);
  weigh(worked - start, Clock::now() - worked);
}

/// False: none is left.
bool ThreadPool::take_part() {
  uint64_t open = open_.load(std::memory_order_acquire);
  for (;;) {
    if (parts_left(open) == 0) return false;
    // Read before the part is taken: once it is, they are known to belong to it.
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

/// Without help the caller would have worked for up to twice as long. Half of that counts, for both
/// may have waited for memory, or the helper has not come.
void ThreadPool::weigh(Clock::duration worked, Clock::duration waited) {
  gain_ = std::min<Clock::duration>(gain_ + worked / 2, kMaxGain);
  if (waited < kLate) return;
  gain_ -= waited;
  if (gain_ >= Clock::duration::zero()) return;
  gain_ = Clock::duration::zero();
  alone_until_ = Clock::now() + kAlone;
}

void ThreadPool::help() {
  auto last = Clock::now();
  while (!ending_) {
    const uint64_t open = open_.load(std::memory_order_acquire);
    if (take_part()) {
      last = Clock::now();
    } else if (Clock::now() - last < kAwake) {
      for (int i = 0; i < 4; ++i) pause();
    } else if (parts_left(open) == 0 && !ending_) {
      open_.wait(open, std::memory_order_acquire);
      last = Clock::now();
    }
  }
}

}  // namespace kernels
