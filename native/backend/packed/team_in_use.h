// Which threads help the calling thread to compute.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "gemm/team.h"

namespace backend {

/// While it lives, the layers that the calling thread runs share their work with the team.
class TeamInUse {
 public:
  /// nullptr: nobody helps.
  explicit TeamInUse(gemm::Team* team) : before_(current_) { current_ = team; }
  ~TeamInUse() { current_ = before_; }
  TeamInUse(const TeamInUse&) = delete;
  TeamInUse& operator=(const TeamInUse&) = delete;

  /// Of the calling thread: a team that has helpers, or null.
  static gemm::Team* current() {
    return current_ != nullptr && current_->has_helpers() ? current_ : nullptr;
  }

 private:
  static inline thread_local constinit gemm::Team* current_ = nullptr;
  gemm::Team* before_;
};

/// Multiplications (with an addition each) that are worth a part of their own: some microseconds.
constexpr int64_t kShareOfWork = 500'000;

/// Calls part(0) … part(count - 1) with the help of the team in use. Throws what the first of them
/// that failed has thrown (std::bad_alloc, of a thread's own memory), once all have ended.
template <class Part>
void share_parts(int64_t count, const Part& part) {
  gemm::Team* const team = TeamInUse::current();
  if (team == nullptr || count <= 1) {
    for (int64_t index = 0; index < count; ++index) part(index);
    return;
  }
  std::atomic_flag has_failed;
  std::exception_ptr failure;
  team->run(static_cast<uint32_t>(count), [&](uint32_t index) noexcept {
    try {
      part(index);
    } catch (...) {
      if (!has_failed.test_and_set()) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace backend
