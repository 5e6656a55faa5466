#include "program/run_limit.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "backend/model_config.h"
#include "runtime/runtime.h"

namespace backend {

using Clock = std::chrono::steady_clock;

struct RunBounds final : c10::DebugInfoBase {
  Clock::time_point end;
  size_t most_resident = 0;  ///< bytes; 0: any
  std::atomic<Clock::rep> next_look = 0;
  std::atomic<bool> time_was_up = false;
  std::atomic<bool> memory_was_short = false;
};

namespace {

/// The largest run of a classifier's trial takes some hundred MB.
constexpr size_t kTrialMemory = size_t{1} << 30U;

/// Reading the size of the process takes microseconds.
constexpr Clock::duration kBetweenLooks = std::chrono::milliseconds(5);
constexpr size_t kSmallTensor = size_t{1} << 20U;

/// Elements of a list, or bytes of a string, that may still grow in a trial, or that one `*` may
/// make: what grows doubles at most, so that the process is looked at before it is too late.
constexpr int64_t kMaxLength = 10'000'000;

/// Where LibTorch keeps what belongs to a run: the threads of a fork() have it, too.
constexpr std::string_view kPlaceName = "LIBTORCH_SERVE_RUN_LIMIT";
constexpr c10::DebugInfoKind kPlace(&kPlaceName);

RunBounds* bounds_of_this_thread() {
  return static_cast<RunBounds*>(c10::ThreadLocalDebugInfo::get(kPlace));
}

[[noreturn]] void refuse_memory(RunBounds& bounds) {
  bounds.memory_was_short = true;
  throw std::runtime_error("too much memory");
}

void check_memory(RunBounds& bounds, size_t asked_for) {
  if (bounds.most_resident == 0) return;
  if (resident_memory() + asked_for > bounds.most_resident) refuse_memory(bounds);
}

/// LibTorch's own, asked only while the limit allows it.
class LimitedAllocator final : public c10::Allocator {
 public:
  explicit LimitedAllocator(c10::Allocator& inner) : inner_(inner) {}

  c10::DataPtr allocate(size_t size) override {
    if (size >= kSmallTensor) {
      if (RunBounds* bounds = bounds_of_this_thread()) check_memory(*bounds, size);
    }
    return inner_.allocate(size);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_.raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    inner_.copy_data(to, from, count);
  }

 private:
  c10::Allocator& inner_;
};

}  // namespace

RunLimit::RunLimit(const ComputeOptions& compute, std::string tried, size_t beside)
    : progress_(compute.progress),
      tried_(std::move(tried)),
      run_limit_(compute.run_limit),
      most_memory_(kTrialMemory + beside),
      bounds_(std::make_shared<RunBounds>()),
      guard_(kPlace, bounds_) {
  bounds_->end = Clock::now() + compute.run_limit;
  if (!tried_.empty()) bounds_->most_resident = resident_memory() + most_memory_;
  if (progress_) progress_->began();
}

RunLimit::~RunLimit() {
  if (progress_) progress_->ended();
}

void RunLimit::throw_if_reached() const {
  if (bounds_->time_was_up) throw scheduler::RunTimeout(run_limit_);
  if (!bounds_->memory_was_short) return;
  throw LoadError(tried_ + ": forward() asked for more than " +
                  std::to_string(most_memory_ >> 20U) + " MiB of memory when it was tried");
}

std::string too_slow(const std::string& file, std::chrono::milliseconds limit) {
  return file + ": forward() did not end within " + std::to_string(limit.count()) +
         " ms when it was tried: if it has no endless loop, set INFERENCE_TIMEOUT_MS to more";
}

void limit_tensors() {
  static std::once_flag once;
  std::call_once(once, [] {
    // LibTorch keeps the pointer until the process ends.
    static LimitedAllocator& allocator = *new LimitedAllocator(*c10::GetCPUAllocator());
    c10::SetCPUAllocator(&allocator);
  });
}

void check_run_limit() {
  RunBounds* bounds = bounds_of_this_thread();
  if (bounds == nullptr) return;
  const auto now = Clock::now();
  if (now >= bounds->end) {
    bounds->time_was_up = true;
    throw std::runtime_error("the time is up");
  }
  if (now.time_since_epoch().count() < bounds->next_look) return;
  bounds->next_look = (now + kBetweenLooks).time_since_epoch().count();
  check_memory(*bounds, 0);
}

void check_length(int64_t length) {
  RunBounds* bounds = bounds_of_this_thread();
  if (bounds != nullptr && bounds->most_resident > 0 && length > kMaxLength) {
    refuse_memory(*bounds);
  }
}

}  // namespace backend
