// Operators that are linear layers.
#pragma once

#include <optional>
#include <vector>

#include "exported/plan.h"

namespace backend {

/// The same on packed weights, where the weights are constant: of linear, addmm, mm and matmul.
std::optional<PackedCall> packed_call(const c10::OperatorHandle& op,
                                      const std::vector<Operand>& operands, PackedLayers& layers);

}  // namespace backend
