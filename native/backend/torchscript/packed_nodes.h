// Layers of a frozen graph whose weights are constant, on packed products.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace backend {

/// Puts packed convolutions (products/packed_convolution.h), with each the relu() that alone reads
/// it, and packed linear layers (products/packed_layer.h) in the place of those whose filters and
/// weights are constant. These go when nothing else needs them.
void pack_constant_layers(torch::jit::Graph& graph);

}  // namespace backend
