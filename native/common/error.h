// The error of a model file that cannot be loaded.
#pragma once

#include <stdexcept>

namespace common {

/// A model that cannot be loaded. The message begins with the name of the file, and with the key or
/// the tensor if one is at fault; it is written to the log.
class LoadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace common
