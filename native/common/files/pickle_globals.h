// Allowed globals of pickles.
#pragma once

#include <torch/headeronly/core/ScalarType.h>

#include <optional>
#include <string_view>

namespace common {

/// Writer of a pickle: torch.save of a state_dict, or torch.jit.save.
enum class PickleKind { kStateDict, kTorchScript };

/// Meaning of a global, or of the result of calling it.
struct Global {
  enum class Kind {
    kStorageType,
    kOrderedDict,
    kTensor,         ///< a view of a storage
    kFirstArgument,  ///< its first argument: a parameter, a typed list
    kObject,         ///< an object of a class in the file, or a device; its content is opaque
  };
  Kind kind;
  c10::ScalarType elements{};  ///< element type of a storage
};

/// Meaning of a global; unset if pickles of this kind may not use it.
std::optional<Global> find_global(std::string_view name, PickleKind kind);

/// Name of the kind in error messages: "a state_dict".
std::string_view description_of(PickleKind kind);

}  // namespace common
