// Invariants of tensors from files.
#pragma once

#include <ATen/core/Tensor.h>

namespace fuzz {

/// All elements are inside the storage; reads small tensors.
void require_inside(const at::Tensor& tensor);

}  // namespace fuzz
