// Whether weights are numbers.
#pragma once

#include <ATen/core/Tensor.h>

namespace backend {

/// Whether a floating-point tensor holds neither NaN nor infinities. One pass over its memory.
bool is_finite(const at::Tensor& tensor);

}  // namespace backend
