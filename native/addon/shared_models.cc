#include "shared_models.h"

#include <map>
#include <mutex>

namespace addon {
namespace {

struct Entry {
  std::weak_ptr<engine::Engine> engine;
  engine::Description description;
  std::shared_ptr<Clients> clients;
};

struct Register {
  std::mutex mutex;
  std::map<uint64_t, Entry> entries;
  uint64_t next = 1;
};

/// Never destroyed: an environment may end after the process has begun to.
Register& all() {
  static auto* const entries = new Register();
  return *entries;
}

}  // namespace

uint64_t share(const SharedModel& model) {
  Register& shared = all();
  const std::lock_guard lock(shared.mutex);
  std::erase_if(shared.entries, [](const auto& entry) { return entry.second.engine.expired(); });
  const uint64_t number = shared.next++;
  shared.entries.emplace(
      number,
      Entry{.engine = model.engine, .description = model.description, .clients = model.clients});
  return number;
}

SharedModel find_shared(uint64_t number) {
  Register& shared = all();
  const std::lock_guard lock(shared.mutex);
  const auto found = shared.entries.find(number);
  if (found == shared.entries.end()) return {};
  const Entry& entry = found->second;
  return {
      .engine = entry.engine.lock(), .description = entry.description, .clients = entry.clients};
}

}  // namespace addon
