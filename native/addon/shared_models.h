// Engines that one JavaScript environment has loaded, and that others of the process use, too.
#pragma once

#include <cstdint>
#include <memory>

#include "clients.h"
#include "engine/engine.h"

namespace addon {

/// What a further environment needs to use an engine.
struct SharedModel {
  std::shared_ptr<engine::Engine> engine;
  engine::Description description;
  std::shared_ptr<Clients> clients;
};

/// A number by which every environment of this process finds it until its engine is closed. The
/// engine itself is not kept. Any thread.
uint64_t share(const SharedModel& model);

/// Without an engine: there is none by this number, or not any more. Any thread.
SharedModel find_shared(uint64_t number);

}  // namespace addon
