// The names that a pickle may refer to.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string_view>

namespace backend {

/// What wrote a pickle: torch.save of a state_dict, or torch.jit.save.
enum class PickleOf { kStateDict, kTorchScript };

/// What a name is, and gives when it is called.
struct Global {
  enum class Kind {
    kStorageType,
    kOrderedDict,
    kTensor,         ///< over a storage
    kFirstArgument,  ///< a parameter of a tensor, a list with its type
    kObject,         ///< of a class of the model's own, or a device: nothing looks into it
  };
  Kind kind;
  c10::ScalarType elements{};  ///< of a storage
};

/// Nothing for a name that such a pickle has no use for.
std::optional<Global> global_named(std::string_view name, PickleOf what);

/// How such a pickle is called: "a state_dict".
std::string_view called(PickleOf what);

}  // namespace backend
