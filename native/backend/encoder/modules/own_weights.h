// The weights of one module, which has files of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/model_config.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"

namespace backend::modules {

/// Calls make(weights) with those of a module of this type, all of which it must read. Throws
/// LoadError: of whatever it says, beginning with the type, as files of several modules have the
/// same name.
template <class Make>
auto with_own_weights(const char* type, const std::vector<std::string>& files, const Make& make) {
  try {
    const Weights weights(std::make_shared<const Checkpoint>(Checkpoint::open(files)));
    auto made = make(weights);
    weights.require_all_used();
    return made;
  } catch (const LoadError& error) {
    throw LoadError(std::string(type) + ": " + error.what());
  }
}

/// Throws LoadError where a module does not read what the one before it gives.
inline void require_columns(const char* type, int64_t expected, int64_t given) {
  if (expected == given) return;
  throw LoadError(std::string(type) + ": takes rows of " + std::to_string(expected) +
                  " numbers, but those before it have " + std::to_string(given));
}

}  // namespace backend::modules
