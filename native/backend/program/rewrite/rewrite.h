// Several operators as one, and layers on packed products.
#pragma once

#include "products/packed_layer.h"
#include "program/rewrite/graph_view.h"

namespace backend {

/// Batch normalizations go into the weights of the convolutions that they read. Convolutions over
/// one dimension (products/packed_convolution.h), with relu() behind them, and linear layers
/// (products/packed_layer.h), with GELU behind them where it is `fuses_gelu`, become packed ones
/// where filters and weights are constant.
void rewrite(GraphView& graph, PackedLayers& layers, bool fuses_gelu);

}  // namespace backend
