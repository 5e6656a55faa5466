#include "programs/run_limit.h"

#include <c10/core/CPUAllocator.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "runtime/runtime.h"

namespace backend {

using Clock = std::chrono::steady_clock;

struct RunBounds final : c10::DebugInfoBase {
  Clock::time_point end;
  size_t max_resident = 0;  ///< bytes; 0: no limit
  std::atomic<Clock::rep> next_memory_check = 0;
  std::atomic<bool> timed_out = false;
  std::atomic<bool> out_of_memory = false;
};

namespace {

/// Runs of large classifiers need some hundred MB.
constexpr size_t kCheckMemory = size_t{1} << 30U;

/// Reading the resident set size takes microseconds.
constexpr Clock::duration kMemoryCheckInterval = std::chrono::milliseconds(5);
constexpr size_t kSmallTensor = size_t{1} << 20U;

/// Maximum elements of a list, or bytes of a string, during a load-time check. Larger growth could
/// exhaust memory between two memory checks.
constexpr int64_t kMaxLength = 10'000'000;

/// Key of LibTorch's thread-local debug info, which threads of fork() inherit.
constexpr std::string_view kDebugInfoName = "LIBTORCH_SERVE_RUN_LIMIT";
constexpr c10::DebugInfoKind kDebugInfo(&kDebugInfoName);

RunBounds* bounds_of_this_thread() {
  return static_cast<RunBounds*>(c10::ThreadLocalDebugInfo::get(kDebugInfo));
}

[[noreturn]] void throw_out_of_memory(RunBounds& bounds) {
  bounds.out_of_memory = true;
  throw std::runtime_error("too much memory");
}

void check_memory(RunBounds& bounds, size_t requested) {
  if (bounds.max_resident == 0) return;
  if (resident_memory() + requested > bounds.max_resident) throw_out_of_memory(bounds);
}

/// LibTorch's allocator with a check of the memory limit.
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

RunLimit::RunLimit(const ComputeOptions& compute, std::string checked_file, size_t extra_memory)
    : progress_(compute.progress),
      checked_file_(std::move(checked_file)),
      run_limit_(compute.run_limit),
      max_memory_(kCheckMemory + extra_memory),
      bounds_(std::make_shared<RunBounds>()),
      guard_(kDebugInfo, bounds_) {
  bounds_->end = Clock::now() + compute.run_limit;
  if (!checked_file_.empty()) bounds_->max_resident = resident_memory() + max_memory_;
  if (progress_) progress_->run_started();
}

RunLimit::~RunLimit() {
  if (progress_) progress_->run_ended();
}

void RunLimit::throw_if_reached() const {
  if (bounds_->timed_out) throw scheduler::RunTimeout(run_limit_);
  if (!bounds_->out_of_memory) return;
  throw common::LoadError(checked_file_ + ": forward() asked for more than " +
                          std::to_string(max_memory_ >> 20U) +
                          " MiB of memory in the load-time check");
}

std::string run_limit_error(const std::string& file, std::chrono::milliseconds limit) {
  return file + ": forward() did not end within " + std::to_string(limit.count()) +
         " ms in the load-time check. Increase INFERENCE_TIMEOUT_MS unless it has an endless loop";
}

void install_limited_allocator() {
  static std::once_flag once;
  std::call_once(once, [] {
    // LibTorch keeps the pointer until the process exits.
    static LimitedAllocator& allocator = *new LimitedAllocator(*c10::GetCPUAllocator());
    c10::SetCPUAllocator(&allocator);
  });
}

void check_run_limit() {
  RunBounds* bounds = bounds_of_this_thread();
  if (bounds == nullptr) return;
  const auto now = Clock::now();
  if (now >= bounds->end) {
    bounds->timed_out = true;
    throw std::runtime_error("the time is up");
  }
  if (now.time_since_epoch().count() < bounds->next_memory_check) return;
  bounds->next_memory_check = (now + kMemoryCheckInterval).time_since_epoch().count();
  check_memory(*bounds, 0);
}

void check_length(int64_t length) {
  RunBounds* bounds = bounds_of_this_thread();
  if (bounds != nullptr && bounds->max_resident > 0 && length > kMaxLength) {
    throw_out_of_memory(*bounds);
  }
}

}  // namespace backend
