#include "watchdog.h"

#include <algorithm>
#include <utility>

#include "worker_thread.h"

namespace engine {
namespace {

/// No run wakes the watchdog; it looks by itself.
constexpr std::chrono::milliseconds kPeriod{100};

}  // namespace

Watchdog::Watchdog(Clock::duration limit, size_t workers, Handlers handlers)
    : limit_(limit), handlers_(std::move(handlers)), runs_(workers), thread_([this] {
        set_up_engine_thread("watchdog", Priority::kEqual);
        watch();
      }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Watchdog::Run::Run(Watchdog& watchdog, Requests& batch, size_t worker) noexcept
    : watchdog_(watchdog), worker_(worker) {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.runs_[worker_] = {.batch = &batch, .start = Clock::now()};
}

bool Watchdog::Run::end() noexcept {
  if (ended_) return false;
  ended_ = true;
  const std::lock_guard lock(watchdog_.mutex_);
  Entry& run = watchdog_.runs_[worker_];
  const bool wanted = !run.given_up;
  if (!wanted) --watchdog_.given_up_;
  run = {};
  return wanted;
}

Clock::duration Watchdog::stuck_for() const {
  const std::lock_guard lock(mutex_);
  Clock::duration longest{0};
  for (const Entry& run : runs_) {
    if (run.given_up) longest = std::max(longest, Clock::now() - run.start);
  }
  return longest;
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    auto next = Clock::now() + kPeriod;
    for (size_t worker = 0; worker < runs_.size(); ++worker) {
      Entry& run = runs_[worker];
      if (run.batch == nullptr || run.given_up) continue;
      if (run.start + limit_ > Clock::now()) {
        next = std::min(next, run.start + limit_);
        continue;
      }
      run.given_up = true;
      ++given_up_;
      // Under the lock, so that the run cannot end in between.
      handlers_.on_given_up(*run.batch, worker);
    }
    handlers_.at_times();
    changed_.wait_until(lock, next, [this] { return closed_; });
  }
}

}  // namespace engine
