// The JavaScript environments that share one engine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "scheduler/engine.h"

namespace node {

/// Brings what has ended to the environment that submitted it. A ticket's upper bits name that
/// environment, its lower ones are the number that it gave the request.
class Clients {
 public:
  using Id = uint64_t;
  /// On the engine's threads. Must not throw.
  using Receiver = std::function<void(scheduler::Completions)>;

  /// The ticket by which the engine knows a client's request.
  static uint64_t ticket(Id client, uint64_t own) { return client * kTickets + own; }

  Id add(Receiver receiver);
  /// Once it returns, nothing more is received.
  void remove(Id client);
  /// Any thread. What belongs to nobody any more is dropped.
  void deliver(scheduler::Completions ended) noexcept;

 private:
  static constexpr uint64_t kTickets = uint64_t{1} << 48U;  ///< of each client

  std::mutex mutex_;
  std::map<Id, Receiver> receivers_;
  Id next_ = 0;
};

}  // namespace node
