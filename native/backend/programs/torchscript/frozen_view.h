// Rewriting of frozen TorchScript graphs.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include "packed/linear.h"

namespace backend {

/// Applies rewrite() to the graph of a module's forward().
void rewrite_frozen(torch::jit::Graph& graph, PackedLinears& layers, bool fuses_gelu);

}  // namespace backend
