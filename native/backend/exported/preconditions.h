// What operators of LibTorch believe without a look, and would read beyond their tensors for.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace backend {

/// Throws engine::BackendError for arguments that do not fit each other.
using Precondition = void (*)(const torch::jit::Stack& arguments);

/// Null where the operator looks itself.
Precondition precondition_of(const c10::OperatorHandle& op);

}  // namespace backend
