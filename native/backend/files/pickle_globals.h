// The names that a pickle may refer to.
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace backend {

/// What wrote a pickle: torch.save of a state_dict, or torch.jit.save.
enum class PickleOf { kStateDict, kTorchScript };

/// What a name is, and gives when it is called.
enum class Global {
  kStorageType,
  kOrderedDict,
  kTensor,         ///< over a storage
  kFirstArgument,  ///< a parameter of a tensor, a list with its type
  kObject,         ///< of a class of the model's own, or a device: nothing looks into it
};

/// Nothing for a name that such a pickle has no use for.
std::optional<Global> meaning_of(const std::string& name, PickleOf what);

/// Of "torch.FloatStorage".
std::optional<c10::ScalarType> element_type_of(const std::string& storage_type);

/// How such a pickle is called: "a state_dict".
std::string_view called(PickleOf what);

}  // namespace backend
