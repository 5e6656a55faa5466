// Higher-order nodes, which execute subgraphs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "programs/exported/graph.h"

namespace backend {

struct HigherOrder {
  enum class Kind {
    kInline,    ///< the only graph, inlined
    kCond,      ///< the first graph if the predicate is true, otherwise the second
    kWhileLoop  ///< the second graph while the first one returns true
  };
  Kind kind = Kind::kInline;
  std::vector<const Graph*> graphs;  ///< owned by the node
  std::optional<Argument> predicate;
  Arguments operands;   ///< of each graph; loop: carried values, then read-only values
  size_t carried = 0;   ///< number of carried values of a loop
  std::string problem;  ///< why it is not supported; empty: it is
};

/// Parses a higher-order node, for example "torch.ops.higher_order.cond".
HigherOrder read_higher_order(const Node& node);

}  // namespace backend
