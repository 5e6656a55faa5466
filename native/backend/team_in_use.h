// Which threads help the calling thread to compute.
#pragma once

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

  static gemm::Team* current() { return current_; }

 private:
  static thread_local gemm::Team* current_;
  gemm::Team* before_;
};

}  // namespace backend
