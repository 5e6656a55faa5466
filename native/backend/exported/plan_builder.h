// Makes a plan of a graph.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "exported/aliases.h"
#include "exported/graph.h"
#include "exported/higher_order.h"
#include "exported/plan.h"
#include "packed/linear.h"

namespace backend {

/// Of all graphs of one program.
struct PlanOptions {
  const WrittenValues& written;
  const std::set<std::string>& added_operators;
  PackedLinears& layers;
  SharedMemory& shared;  ///< what was computed beforehand is added
};

/// Operators whose inputs are all constant run now, once, where no run writes to their results.
/// Throws LoadError naming operator and node.
///
/// inputs: of the graph's inputs in order: a constant, or nothing for what is given to each run.
Plan build_plan(const Graph& graph, const std::vector<std::optional<c10::IValue>>& inputs,
                const PlanOptions& options);

}  // namespace backend
