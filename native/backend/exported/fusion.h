// Two operators as one.
#pragma once

#include "exported/plan.h"

namespace backend {

/// `next` reads the one result of `before`, and is the only one that does. Makes `before` do the
/// work of both, where it can: a batch normalization goes into the weights of a convolution, GELU
/// into the end of a packed layer, relu() into that of a packed convolution.
bool fuse(const c10::OperatorHandle& next, const std::vector<Operand>& operands, Step& before,
          SharedMemory& shared);

}  // namespace backend
