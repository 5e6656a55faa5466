// Convolutions of a frozen graph, on packed products.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

namespace backend {

/// Puts packed convolutions (products/packed_convolution.h), and with each the relu() that alone
/// reads it, in the place of those whose filters are constant.
void pack_convolutions(torch::jit::Graph& graph);

}  // namespace backend
