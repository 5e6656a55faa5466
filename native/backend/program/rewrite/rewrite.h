// Several operators as one, and layers on packed products.
#pragma once

#include "packed/linear.h"
#include "program/rewrite/graph_view.h"

namespace backend {

/// Batch normalizations go into the weights of the convolutions that they read. Convolutions over
/// one dimension (packed/convolution.h), with relu() behind them, and linear layers
/// (packed/linear.h), with GELU behind them where it is `fuses_gelu`, become packed ones
/// where filters and weights are constant.
void rewrite(GraphView& graph, PackedLinears& layers, bool fuses_gelu);

}  // namespace backend
