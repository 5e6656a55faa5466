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
  Kind kind;
  std::vector<const Graph*> graphs;  ///< part of the node
  std::optional<Argument> predicate;
  std::vector<Argument> operands;  ///< of each graph; of a loop: what it carries, and what it reads
  size_t carried = 0;              ///< of a loop: as many of the operands
};

struct FoundHigherOrder {
  std::optional<HigherOrder> call;
  std::string problem;  ///< why there is none: for people
};

/// "torch.ops.higher_order.cond" and others.
FoundHigherOrder read_higher_order(const Node& node);

}  // namespace backend
