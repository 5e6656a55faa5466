// Graph rewriting: operator fusion and packed layers.
#pragma once

#include "packed/linear.h"
#include "programs/rewrite/graph_view.h"

namespace backend {

/// Folds batch normalizations into the weights of preceding convolutions. Replaces
/// convolutions over one or two dimensions (with a following relu) and linear layers (with a
/// following GELU if `fuses_gelu`) with constant weights by packed layers, and pooling by our own.
void rewrite(GraphView& graph, PackedLinears& layers, bool fuses_gelu);

}  // namespace backend
