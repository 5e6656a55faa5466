// Checks for operators of LibTorch that do not validate their arguments: they would read outside
// their tensors or crash.
#pragma once

#include <ATen/core/ivalue.h>

#include <span>
#include <string_view>

namespace backend {

/// Throws scheduler::BackendError if the operator does not support the arguments.
using Precondition = void (*)(std::span<const c10::IValue> arguments);

/// Precondition of an operator; null if the operator validates its arguments itself. `name`:
/// without the overload
/// (`aten::lstm`). A precondition supports all overloads.
Precondition precondition_of(std::string_view name);

}  // namespace backend
