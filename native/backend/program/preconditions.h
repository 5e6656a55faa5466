// What operators of LibTorch believe without a look, and would read beyond their tensors, or end
// the process, for.
#pragma once

#include <ATen/core/ivalue.h>

#include <span>
#include <string_view>

namespace backend {

/// Throws scheduler::BackendError for arguments that the operator must not be given.
using Precondition = void (*)(std::span<const c10::IValue> arguments);

/// Null where the operator looks itself. `name`: without the overload (`aten::lstm`), whichever of
/// them the arguments are for.
Precondition precondition_of(std::string_view name);

}  // namespace backend
