#include "shared_models.h"

#include <map>
#include <mutex>

namespace node {
namespace {

/// Of a model without its engine.
struct Entry {
  std::weak_ptr<scheduler::Engine> engine;
  Model rest;
};

struct Register {
  std::mutex mutex;
  std::map<uint64_t, Entry> entries;
  uint64_t next = 1;
  std::weak_ptr<scheduler::Machine> machine;
  std::weak_ptr<scheduler::ResultCache> results;
};

/// Never destroyed: an environment may end after the process has begun to.
Register& all() {
  static auto* const entries = new Register();
  return *entries;
}

}  // namespace

uint64_t share(const Model& model) {
  Entry entry{.engine = model.engine, .rest = model};
  entry.rest.engine.reset();
  Register& shared = all();
  const std::lock_guard lock(shared.mutex);
  std::erase_if(shared.entries, [](const auto& each) { return each.second.engine.expired(); });
  shared.entries.emplace(shared.next, std::move(entry));
  return shared.next++;
}

Model find_shared(uint64_t number) {
  Register& shared = all();
  const std::lock_guard lock(shared.mutex);
  const auto found = shared.entries.find(number);
  if (found == shared.entries.end()) return {};
  Model model = found->second.rest;
  model.engine = found->second.engine.lock();
  return model;
}

std::shared_ptr<scheduler::Machine> machine_of_process() {
  Register& shared = all();
  const std::lock_guard lock(shared.mutex);
  auto machine = shared.machine.lock();
  if (!machine) shared.machine = machine = std::make_shared<scheduler::Machine>();
  return machine;
}

std::shared_ptr<scheduler::ResultCache> results_of_process(size_t max_bytes) {
  if (max_bytes == 0) return nullptr;
  Register& shared = all();
  const std::lock_guard lock(shared.mutex);
  auto results = shared.results.lock();
  if (!results) shared.results = results = std::make_shared<scheduler::ResultCache>(max_bytes);
  return results;
}

}  // namespace node
