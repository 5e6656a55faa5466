// Which threads help the calling thread to compute.
#pragma once

#include <cstdint>

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
  static thread_local gemm::Team* current_;
  gemm::Team* before_;
};

/// Multiplications (with an addition each) that are worth a part of their own: some microseconds.
constexpr int64_t kShareOfWork = 500'000;

/// Calls part(0) … part(count - 1), which must not throw, with the help of the team in use.
template <class Part>
void share_parts(int64_t count, const Part& part) {
  if (gemm::Team* const team = TeamInUse::current(); team != nullptr && count > 1) {
    team->run(static_cast<uint32_t>(count), [&](uint32_t index) noexcept { part(index); });
  } else {
    for (int64_t index = 0; index < count; ++index) part(index);
  }
}

}  // namespace backend
