// Batch normalizations behind convolutions.
#pragma once

#include "program/rewrite/graph_view.h"

namespace backend {

/// Makes the normalization that reads a convolution part of its weights. False: there is none, or
/// any of it is not constant and float32.
bool fold_normalization(GraphView& graph, GraphView::Call convolution);

}  // namespace backend
