// What a tensor of any file promises.
#pragma once

#include <ATen/core/Tensor.h>

namespace fuzz {

/// Every element lies inside the storage; few enough are read as well.
void require_inside(const at::Tensor& tensor);

}  // namespace fuzz
