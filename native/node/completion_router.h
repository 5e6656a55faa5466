// Delivery of completions from the scheduler's threads to the engine host that submitted them.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "scheduler/model_queue.h"

namespace node {

/// Connects the queue of a model with its EngineHost. An abandoned queue may outlive the host; its
/// late completions are dropped here. Any thread.
class CompletionRouter {
 public:
  explicit CompletionRouter(scheduler::CompletionHandler receiver)
      : receiver_(std::move(receiver)) {}

  /// Calls the receiver on the calling thread.
  void deliver(scheduler::Completions completions) noexcept {
    const std::lock_guard lock(mutex_);
    if (receiver_) receiver_(std::move(completions));
  }

  /// The receiver is not called after this function has returned.
  void disconnect() {
    const std::lock_guard lock(mutex_);
    receiver_ = nullptr;
  }

 private:
  std::mutex mutex_;
  scheduler::CompletionHandler receiver_;
};

}  // namespace node
