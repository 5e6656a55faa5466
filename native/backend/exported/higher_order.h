// Nodes that run other graphs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "exported/graph.h"

namespace backend {

struct HigherOrder {
  enum class Kind {
    kInline,    ///< the one graph, as if its nodes stood there
    kCond,      ///< the first graph where the predicate holds, else the second
    kWhileLoop  ///< the second graph as long as the first one gives true
  };
  Kind kind = Kind::kInline;
  std::vector<const Graph*> graphs;  ///< part of the node
  std::optional<Argument> predicate;
  Arguments operands;   ///< of each graph; of a loop: what it carries, and what it reads
  size_t carried = 0;   ///< of a loop: as many of the operands
  std::string problem;  ///< why it cannot be run: for people; empty: it can
};

/// "torch.ops.higher_order.cond" and others.
HigherOrder read_higher_order(const Node& node);

}  // namespace backend
