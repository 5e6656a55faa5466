#include "watchdog.h"

#include <algorithm>
#include <utility>

#include "worker_thread.h"

namespace engine {
namespace {

constexpr std::chrono::milliseconds kPeriod{100};

}  // namespace

Watchdog::Watchdog(Clock::duration limit, Handlers handlers)
    : limit_(limit), handlers_(std::move(handlers)), thread_([this] {
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

Watchdog::Run::Run(Watchdog& watchdog, const Requests& requests, size_t worker)
    : watchdog_(watchdog) {
  const std::lock_guard lock(watchdog_.mutex_);
  entry_ = watchdog_.runs_.insert(watchdog_.runs_.end(),
                                  {.start = Clock::now(), .requests = &requests, .worker = worker});
}

bool Watchdog::Run::end() {
  if (ended_) return false;
  ended_ = true;
  const std::lock_guard lock(watchdog_.mutex_);
  const bool wanted = !entry_->given_up;
  if (!wanted) --watchdog_.given_up_;
  watchdog_.runs_.erase(entry_);
  return wanted;
}

Clock::duration Watchdog::stuck_for() const {
  const std::lock_guard lock(mutex_);
  const auto oldest = std::ranges::find_if(runs_, &Entry::given_up);
  return oldest == runs_.end() ? Clock::duration(0) : Clock::now() - oldest->start;
}

// No run wakes this thread: one that begins while it sleeps is not over the limit when it wakes.
void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    auto next = Clock::now() + limit_;
    for (Entry& run : runs_) {
      if (run.given_up) continue;
      if (run.start + limit_ > Clock::now()) {
        next = run.start + limit_;
        break;
      }
      run.given_up = true;
      ++given_up_;
      handlers_.on_given_up(*run.requests,
                            run.worker);  // under the lock, so that the run cannot end in between
    }
    if (given_up_ > 0) {
      handlers_.meanwhile();
      next = std::min(next, Clock::now() + kPeriod);
    }
    changed_.wait_until(lock, next, [this] { return closed_; });
  }
}

}  // namespace engine
