// Rewriting of a frozen graph.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include "products/packed_layer.h"

namespace backend {

/// See program/rewrite. Of the graph of a module's forward().
void rewrite_frozen(torch::jit::Graph& graph, PackedLayers& layers, bool fuses_gelu);

}  // namespace backend
