#include "clients.h"

#include <iterator>
#include <utility>

namespace node {

Clients::Id Clients::add(Receiver receiver) {
  const std::lock_guard lock(mutex_);
  const Id client = next_++;
  receivers_.emplace(client, std::move(receiver));
  return client;
}

void Clients::remove(Id client) {
  const std::lock_guard lock(mutex_);
  receivers_.erase(client);
}

void Clients::deliver(scheduler::Completions ended) noexcept {
  const std::lock_guard lock(mutex_);
  while (!ended.empty()) {
    const Id client = ended.front().ticket / kTickets;
    scheduler::Completions own;
    for (auto it = ended.begin(); it != ended.end();) {
      const auto completion = it++;
      if (completion->ticket / kTickets != client) continue;
      completion->ticket %= kTickets;
      own.splice(own.end(), ended, completion);
    }
    const auto receiver = receivers_.find(client);
    if (receiver != receivers_.end()) receiver->second(std::move(own));
  }
}

}  // namespace node
